"""How a page looks: on a desk, on a phone, on paper."""

CSS = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.25rem 3rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid #ccc; padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
p, ul { max-width: 46rem; }
li { margin: .25rem 0; }
a { color: #0b5394; }
nav ul { list-style: none; padding: 0; margin: .75rem 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
code, .hash { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .875em;
  overflow-wrap: anywhere; }
figure { margin: 1rem 0; min-width: 0; }
figcaption { color: #444; font-size: .875rem; line-height: 1.4; max-width: 46rem; margin-top: .35rem;
  overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: .5rem 2rem; }
.pictures figure { max-width: 36rem; }
svg { display: block; width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid #0b5394; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e2e2e2; }
th { overflow-wrap: normal; border-bottom: 2px solid #999; background: #f4f4f4; vertical-align: bottom;
  white-space: normal; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; text-align: left; white-space: normal;
  min-width: 9.5rem; max-width: 18rem; overflow-wrap: break-word; }
th:first-child { background: #f4f4f4; }
.facts td, .facts th { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
.facts th:first-child { width: 14rem; position: static; }
.facts th { background: #fff; border-bottom: 1px solid #e2e2e2; font-weight: 600; }
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
  figcaption { font-size: 8pt; }
  table { font-size: 7.5pt; }
  th, td { padding: 1.5pt 4pt; }
  th:first-child, td:first-child { position: static; min-width: 0; }
  a { color: inherit; text-decoration: none; }
}
"""
