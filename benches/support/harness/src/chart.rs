//! Charts: how long each step takes relative to plain SQLite, as bars.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::contestants::{PAGESEAL, PAGESEAL_NO_HMAC, PLAIN, SQLCIPHER, SQLCIPHER_NO_HMAC};
use crate::format;
use crate::report::Entrant;
use crate::stats::Spread;

const WIDTH: u32 = 960;
const LABELS: i32 = 330;
const RIGHT: i32 = 70;
const TOP: i32 = 46;
const BOTTOM: i32 = 40;
const BAR: i32 = 11;
const GAP: i32 = 13;
const FONT: &str = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const INK: RGBColor = RGBColor(0x24, 0x2a, 0x33);
const FAINT: RGBColor = RGBColor(0xe4, 0xe7, 0xec);
const MUTED: RGBColor = RGBColor(0x6b, 0x74, 0x80);
/// Ratios beyond this want a logarithmic axis.
const LINEAR_UP_TO: f64 = 20.0;

/// A group of bars: a step, and each contestant's ratio to plain SQLite.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) bars: Vec<(Entrant, Spread)>,
}

/// A contestant's colour, the same in every chart and table.
pub(crate) fn colour(id: &str) -> RGBColor {
    match id {
        PLAIN => RGBColor(0x9a, 0xa3, 0xae),
        PAGESEAL => RGBColor(0x0b, 0x6e, 0x5f),
        PAGESEAL_NO_HMAC => RGBColor(0x6c, 0xc0, 0xa8),
        SQLCIPHER => RGBColor(0xc2, 0x4d, 0x1f),
        SQLCIPHER_NO_HMAC => RGBColor(0xf0, 0xa8, 0x7a),
        _ => RGBColor(0x4b, 0x5f, 0xa8),
    }
}

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The chart as SVG text.
pub(crate) fn svg(groups: &[Group]) -> Result<String, Error> {
    let bars: usize = groups.iter().map(|group| group.bars.len()).sum();
    let bars = i32::try_from(bars)?;
    let height = TOP + BOTTOM + bars * BAR + i32::try_from(groups.len())? * GAP;
    let mut text = String::new();
    {
        let root =
            SVGBackend::with_string(&mut text, (WIDTH, u32::try_from(height)?)).into_drawing_area();
        let longest = groups
            .iter()
            .flat_map(|group| &group.bars)
            .map(|(_, spread)| spread.high)
            .fold(1.0, f64::max);
        let axis = Axis::up_to(longest);
        draw(&root, groups, &axis, height).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw(root: &Area<'_>, groups: &[Group], axis: &Axis, height: i32) -> Drawn {
    root.fill(&WHITE)?;
    legend(root, groups)?;
    for &tick in &axis.ticks {
        let x = axis.pixel(tick);
        let line = if (tick - 1.0).abs() < 1e-9 {
            MUTED
        } else {
            FAINT
        };
        root.draw(&PathElement::new(
            vec![(x, TOP - 6), (x, height - BOTTOM)],
            line.stroke_width(1),
        ))?;
        let label = format!("{tick}x");
        root.draw(&Text::new(
            label,
            (x, height - BOTTOM + 6),
            font(12, MUTED, HPos::Center),
        ))?;
    }
    root.draw(&Text::new(
        "time relative to plain SQLite (bar: median of the rounds' ratios, line: its interval)",
        (axis.pixel(axis.from), height - BOTTOM + 22),
        font(11, MUTED, HPos::Left),
    ))?;
    let mut y = TOP + GAP / 2;
    for group in groups {
        let middle = y + i32::try_from(group.bars.len()).unwrap_or(0) * BAR / 2;
        root.draw(&Text::new(
            group.name.clone(),
            (LABELS - 10, middle),
            FontDesc::from((FONT, 13))
                .color(&INK)
                .pos(Pos::new(HPos::Right, VPos::Center)),
        ))?;
        for (entrant, spread) in &group.bars {
            bar(root, axis, y, &entrant.id, spread)?;
            y += BAR;
        }
        y += GAP;
    }
    Ok(())
}

fn bar(root: &Area<'_>, axis: &Axis, y: i32, id: &str, spread: &Spread) -> Drawn {
    let end = axis.pixel(spread.median);
    let corners = [
        (axis.pixel(axis.from), y),
        (end.max(axis.pixel(axis.from) + 1), y + BAR - 2),
    ];
    root.draw(&Rectangle::new(corners, colour(id).filled()))?;
    let middle = y + (BAR - 2) / 2;
    root.draw(&PathElement::new(
        vec![
            (axis.pixel(spread.low), middle),
            (axis.pixel(spread.high), middle),
        ],
        INK.mix(0.7).stroke_width(1),
    ))?;
    root.draw(&Text::new(
        format::ratio(spread.median),
        (axis.pixel(spread.high.max(spread.median)) + 5, middle),
        FontDesc::from((FONT, 11))
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center)),
    ))?;
    Ok(())
}

fn legend(root: &Area<'_>, groups: &[Group]) -> Drawn {
    let mut seen: Vec<&Entrant> = Vec::new();
    for (entrant, _) in groups.iter().flat_map(|group| &group.bars) {
        if seen.iter().all(|other| other.id != entrant.id) {
            seen.push(entrant);
        }
    }
    let mut x = LABELS;
    for entrant in seen {
        root.draw(&Rectangle::new(
            [(x, 14), (x + 12, 24)],
            colour(&entrant.id).filled(),
        ))?;
        root.draw(&Text::new(
            entrant.label.clone(),
            (x + 18, 19),
            FontDesc::from((FONT, 13))
                .color(&INK)
                .pos(Pos::new(HPos::Left, VPos::Center)),
        ))?;
        x += 40 + 7 * i32::try_from(entrant.label.len()).unwrap_or(0);
    }
    Ok(())
}

fn font(size: i32, colour: RGBColor, at: HPos) -> TextStyle<'static> {
    FontDesc::from((FONT, size))
        .color(&colour)
        .pos(Pos::new(at, VPos::Top))
}

/// From ratios to pixels: linear from 0, or logarithmic where the ratios span much.
struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    ticks: Vec<f64>,
}

impl Axis {
    fn up_to(longest: f64) -> Self {
        if longest > LINEAR_UP_TO {
            let decades = longest.log10().ceil();
            let mut ticks: Vec<f64> = vec![1.0];
            while ticks
                .last()
                .is_some_and(|last| last.log10() < decades - 0.5)
            {
                ticks.push(ticks.last().map_or(1.0, |last| last * 10.0));
            }
            return Self {
                from: 0.5,
                to: longest * 1.1,
                logarithmic: true,
                ticks,
            };
        }
        let step = [0.25, 0.5, 1.0, 2.0, 5.0]
            .into_iter()
            .find(|step| longest / step <= 8.0)
            .unwrap_or(5.0);
        let mut ticks = Vec::new();
        let mut tick = 0.0;
        while tick <= longest {
            ticks.push(tick);
            tick += step;
        }
        Self {
            from: 0.0,
            to: longest * 1.02,
            logarithmic: false,
            ticks,
        }
    }

    #[allow(clippy::cast_possible_truncation)] // a pixel
    fn pixel(&self, value: f64) -> i32 {
        let value = value.clamp(self.from, self.to);
        let share = if self.logarithmic {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        let width = f64::from(i32::try_from(WIDTH).unwrap_or(0) - LABELS - RIGHT);
        LABELS + (share * width).round() as i32
    }
}
