"""The style sheet of a page: for desktop, phone, dark mode and print."""

CSS = """
:root { color-scheme: light dark; --page: #fff; --text: #1a1a1a; --soft: #444; --head: #f4f4f4; --line: #e2e2e2;
  --rule: #999; --link: #0b5394; --blue: #0072b2; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #16191d; --text: #e6e6e6; --soft: #b4b4b4; --head: #22272d; --line: #343a41; --rule: #6b737c;
    --link: #8ab8ea; --blue: #2f92dd; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.25rem 3rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--rule); padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
p, ul { max-width: 46rem; }
li { margin: .25rem 0; }
a { color: var(--link); }
nav ul { list-style: none; padding: 0; margin: .75rem 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
code, .hash { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .875em;
  overflow-wrap: anywhere; }
pre { background: var(--head); padding: .75rem; line-height: 1.5; }
figure { margin: 1rem 0; min-width: 0; }
figcaption { color: var(--soft); font-size: .875rem; line-height: 1.4; max-width: 46rem; margin-top: .35rem;
  overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: .5rem 2rem; }
.tables { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.tables table { font-size: .8rem; }
.tables th, .tables td { padding: .25rem .4rem; }
.tables th:first-child, .tables td:first-child { min-width: 6.5rem; }
.tables figure { display: flex; flex-direction: column; width: min-content; min-width: min(100%, 20rem);
  max-width: 100%; }
.tables figcaption { order: -1; margin: 0 0 .35rem; }
.pictures figure { max-width: 36rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: currentColor; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { overflow-wrap: normal; border-bottom: 2px solid var(--rule); background: var(--head); vertical-align: bottom;
  white-space: normal; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--page); text-align: left;
  white-space: normal; min-width: 9.5rem; max-width: 18rem; overflow-wrap: break-word; }
th:first-child { background: var(--head); }
.facts td, .facts th { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
.facts th:first-child { width: 14rem; position: static; }
.facts th, .facts th:first-child { background: var(--page); border-bottom: 1px solid var(--line); font-weight: 600; }
@media (max-width: 40rem) { body { padding: .5rem .75rem 2rem; } h1 { font-size: 1.4rem; } table { font-size: .8rem; }
  th, td { padding: .25rem .45rem; } th:first-child, td:first-child { min-width: 6.5rem; }
  .facts th:first-child { width: 7.5rem; } }
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .pictures { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; }
  .tables { display: block; }
  .tables figure { display: inline-flex; vertical-align: top; min-width: 75mm; margin-right: 8mm; }
  .tables table { font-size: 7pt; }
  figcaption { font-size: 8pt; }
  table { font-size: 7.5pt; }
  th, td { padding: 1.5pt 4pt; }
  th:first-child, td:first-child { position: static; min-width: 0; }
  a { color: inherit; text-decoration: none; }
}
"""
