def write_report(searched, results, data, out): (out/'report.md').write_text('x')
