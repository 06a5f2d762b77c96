//! The page: charts and tables of every workload measured so far, in one file without
//! scripts or anything from elsewhere.

use std::fmt::Write as _;

use crate::contestants::{PAGESEAL, PAGESEAL_NO_HMAC};
use crate::goals::{self, State};
use crate::report::{Report, StepReport};
use crate::stats::{Spread, Verdict};
use crate::summary::{self, Figure, Overhead};
use crate::{Result, chart, format, headline, output, table};

const STYLE: &str = include_str!("page.css");

/// The whole page.
pub(crate) fn page(reports: &[Report]) -> Result<String> {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>pageseal benchmarks</title><style>{STYLE}</style></head><body><main>\n\
         <h1>pageseal benchmarks</h1>\n"
    );
    if let Some(report) = reports.first() {
        let _ = writeln!(
            html,
            "<p class=\"muted\">{}<br>commit {}; databases in {}</p>",
            escape(&report.machine.describe()),
            escape(&report.machine.commit),
            escape(&report.place),
        );
    }
    let groups = headline::groups(reports);
    if !groups.is_empty() {
        let _ = writeln!(
            html,
            "<section><h2>At a glance</h2>{}</section>",
            chart::svg(&groups)?
        );
    }
    for report in reports {
        section(&mut html, report)?;
    }
    html.push_str("</main></body></html>\n");
    Ok(html)
}

fn section(html: &mut String, report: &Report) -> Result<()> {
    let _ = writeln!(
        html,
        "<section id=\"{0}\"><h2>{0}</h2><p>{1}</p><p class=\"muted\">{2}</p>",
        report.workload,
        escape(&report.about),
        escape(&report.reading)
    );
    for refused in &report.agreement.refused {
        let _ = writeln!(
            html,
            "<p class=\"warning\">Not comparable: {}</p>",
            escape(refused)
        );
    }
    let groups = output::groups(report);
    if !groups.is_empty() {
        html.push_str(&chart::svg(&groups)?);
    }
    steps(html, report);
    goal_list(html, report);
    let _ = writeln!(
        html,
        "<details><summary>All figures, and what the contestants are</summary><pre>{}{}</pre></details></section>",
        escape(&report.agreement.render()),
        escape(&table::render(report))
    );
    Ok(())
}

fn steps(html: &mut String, report: &Report) {
    let rivals: Vec<_> = [(PAGESEAL, "HMAC"), (PAGESEAL_NO_HMAC, "no HMAC")]
        .into_iter()
        .filter(|(id, _)| {
            let entrant = report.contestants.iter().find(|c| c.id == *id);
            let rival = entrant.and_then(|entrant| entrant.rival.as_ref());
            rival.is_some_and(|rival| report.contestants.iter().any(|c| c.id == *rival))
        })
        .collect();
    html.push_str("<table><thead><tr><th>step</th>");
    for entrant in &report.contestants {
        let colour = chart::colour(&entrant.id);
        let _ = write!(
            html,
            "<th><span class=\"dot\" style=\"background:rgb({},{},{})\"></span>{}</th>",
            colour.0,
            colour.1,
            colour.2,
            escape(&entrant.label)
        );
    }
    for (_, what) in &rivals {
        let _ = write!(html, "<th>overhead of SQLCipher's, {what}</th>");
    }
    html.push_str("</tr></thead><tbody>\n");
    for step in report.lines() {
        let figures = summary::figures(report, step);
        let class = if step.name == "total" { "total" } else { "" };
        let _ = write!(
            html,
            "<tr class=\"{class}\"><td>{}</td>",
            escape(&step.name)
        );
        for entrant in &report.contestants {
            match figures.iter().find(|f| f.entrant.id == entrant.id) {
                Some(figure) => cell(html, figure, step),
                None => html.push_str("<td>-</td>"),
            }
        }
        for (id, _) in &rivals {
            let figure = figures.iter().find(|f| f.entrant.id == *id);
            let overhead = figure.and_then(|figure| figure.overhead);
            match overhead {
                Some(overhead) if overhead.in_noise => html.push_str(
                    "<td title=\"what SQLCipher costs is within noise\"><small>noise</small></td>",
                ),
                Some(Overhead { spread, .. }) => {
                    let _ = write!(
                        html,
                        "<td>{:.2}<small>[{:.2}, {:.2}]</small></td>",
                        spread.median, spread.low, spread.high
                    );
                }
                None => html.push_str("<td>-</td>"),
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table>\n");
}

fn cell(html: &mut String, figure: &Figure<'_>, step: &StepReport) {
    let time = &figure.time;
    let ratio = figure.to_plain;
    let class = match ratio.as_ref().map(Spread::verdict) {
        Some(Verdict::Slower) => "slower",
        Some(Verdict::Faster) => "faster",
        _ => "",
    };
    let _ = write!(
        html,
        "<td class=\"{class}\" title=\"{} .. {}, {}\">{}<small>{}</small></td>",
        format::time(time.min),
        format::time(time.max),
        format::throughput(step.unit, step.amount, time.median),
        format::time(time.median),
        ratio.as_ref().map(table::ratio).unwrap_or_default(),
    );
}

fn goal_list(html: &mut String, report: &Report) {
    html.push_str("<ul class=\"goals\">");
    for goal in goals::judge(report) {
        let class = match goal.state {
            State::Met => "met",
            State::Open => "open",
            State::Missed => "missed",
        };
        let _ = write!(
            html,
            "<li><span class=\"state {class}\">{}</span>{}</li>",
            goal.state.word(),
            escape(&goal.what)
        );
    }
    html.push_str("</ul>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
