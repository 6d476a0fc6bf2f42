//! Colours, each with its counterpart on a dark page.
//!
//! The plotting crate writes colours as attributes, which rules of style override: the dark page is
//! the same drawing under other rules. Every shade is a colour of its own for that. Lines have the
//! colours of Okabe and Ito, made darker or lighter where they would be too faint, heat maps go from
//! light to dark, and from orange to blue: told apart with any colour vision, and no meaning rests
//! on colour alone.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// A colour on a light page, and on a dark one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Shade {
    pub(super) light: RGBColor,
    dark: RGBColor,
}

const fn shade(light: u32, dark: u32) -> Shade {
    const fn rgb(hex: u32) -> RGBColor {
        RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
    }
    Shade { light: rgb(light), dark: rgb(dark) }
}

/// Text and marks.
pub(super) const INK: Shade = shade(0x0011_1111, 0x00E6_E6E6);
/// Text of axes.
pub(super) const DIM: Shade = shade(0x0055_5555, 0x00A8_A8A8);
/// Lines of the grid.
pub(super) const GRID: Shade = shade(0x00DD_DDDD, 0x0034_383E);
/// The region of a margin.
pub(super) const BAND: Shade = shade(0x00EA_EDF1, 0x0026_2C35);
/// Something good.
pub(super) const GOOD: Shade = shade(0x0000_5F9E, 0x006D_B8EE);
/// Something bad.
pub(super) const BAD: Shade = shade(0x00B8_4C00, 0x00F2_9450);
/// Text on a cell of a heat map that is not far from the middle, or from nothing.
pub(super) const ON_WEAK: Shade = shade(0x001A_1A1A, 0x00F0_F0F0);
/// Text on the others.
pub(super) const ON_STRONG: Shade = shade(0x00FE_FEFE, 0x0010_1010);

/// Lines.
pub(super) const LINES: [Shade; 8] = [
    shade(0x0000_72B2, 0x004F_A8DC),
    shade(0x00D5_5E00, 0x00F0_8A3C),
    shade(0x0000_9E73, 0x003C_C79C),
    shade(0x00A8_4F83, 0x00D9_8CB5),
    shade(0x0033_3333, 0x00D0_D0D0),
    shade(0x002F_8FC4, 0x008C_CFF2),
    shade(0x00B0_7800, 0x00E6_B93C),
    shade(0x006B_5B95, 0x00A9_9AD6),
];

/// From little to much.
pub(in crate::report) const SEQUENTIAL: [Shade; 7] = [
    shade(0x00E9_EFF6, 0x001F_2833),
    shade(0x00D5_E3F0, 0x0021_384F),
    shade(0x00AF_CBE3, 0x0026_506F),
    shade(0x0082_AED2, 0x002F_6B93),
    shade(0x0055_90BF, 0x0042_88B5),
    shade(0x002F_70A5, 0x006A_A9D0),
    shade(0x0013_4B7A, 0x00A5_D0EA),
];

/// From much worse over alike to much better.
pub(in crate::report) const DIVERGING: [Shade; 7] = [
    shade(0x00A5_4E02, 0x00F0_8C42),
    shade(0x00E3_9142, 0x00A0_5A22),
    shade(0x00F8_CFA0, 0x0064_4024),
    shade(0x00F2_F2F2, 0x0029_2D32),
    shade(0x00BB_D7EA, 0x0028_4860),
    shade(0x0065_A3CD, 0x0036_72A0),
    shade(0x001B_5B94, 0x0072_B8EA),
];

fn all() -> impl Iterator<Item = Shade> {
    let single = [INK, DIM, GRID, BAND, GOOD, BAD, ON_WEAK, ON_STRONG];
    single.into_iter().chain(LINES).chain(SEQUENTIAL).chain(DIVERGING)
}

fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    // As the plotting crate writes it: attributes are compared letter by letter.
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Rules of style that put the dark colours in the place of the light ones, on screens only.
pub(in crate::report) fn style_of_shades() -> String {
    let mut out = "@media screen and (prefers-color-scheme: dark) {\n".to_owned();
    for shade in all() {
        let (light, dark) = (hex(shade.light), hex(shade.dark));
        let _ = writeln!(
            out,
            "  svg [fill=\"{light}\"] {{ fill: {dark}; }} svg [stroke=\"{light}\"] {{ stroke: {dark}; }}"
        );
    }
    out + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast, as WCAG 2.1 defines them.
    fn contrast(a: RGBColor, b: RGBColor) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let light =
            |c: RGBColor| 0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2);
        let (a, b) = (light(a) + 0.05, light(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn every_shade_is_one_colour() {
        for (index, shade) in all().enumerate() {
            let same = all().position(|other| other.light == shade.light);
            assert_eq!(same, Some(index), "{}", hex(shade.light));
        }
    }

    /// WCAG asks for 4.5 for text, and for 3 for what is drawn.
    #[test]
    fn all_can_be_seen_on_both_pages() {
        let (light, dark) = (RGBColor(255, 255, 255), RGBColor(0x16, 0x18, 0x1C));
        for (shades, least) in [(&[INK, DIM][..], 4.5), (&[GOOD, BAD], 3.0), (&LINES, 3.0)] {
            for shade in shades {
                let (on_light, on_dark) =
                    (contrast(shade.light, light), contrast(shade.dark, dark));
                assert!(on_light >= least && on_dark >= least, "{shade:?}: {on_light} {on_dark}");
            }
        }
        for (index, shade) in DIVERGING.iter().enumerate() {
            let text = if index == 0 || index == 6 { ON_STRONG } else { ON_WEAK };
            let (light, dark) =
                (contrast(shade.light, text.light), contrast(shade.dark, text.dark));
            assert!(light >= 4.5 && dark >= 4.5, "{index}: {light} {dark}");
        }
    }
}
