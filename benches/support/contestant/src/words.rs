//! Numbers in English words, the text of the fifteen classic tests.

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 10] = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// `13153` as `thirteen thousand one hundred fifty three`.
#[must_use]
pub fn in_words(number: u64) -> String {
    let mut words = Vec::new();
    push(number, &mut words);
    words.join(" ")
}

fn push(number: u64, words: &mut Vec<&'static str>) {
    let at = |index: u64| usize::try_from(index).expect("below 100");
    match number {
        0..=19 => words.push(SMALL[at(number)]),
        20..=99 => {
            words.push(TENS[at(number / 10)]);
            rest(number % 10, words);
        }
        100..=999 => {
            push(number / 100, words);
            words.push("hundred");
            rest(number % 100, words);
        }
        1_000..=999_999 => {
            push(number / 1_000, words);
            words.push("thousand");
            rest(number % 1_000, words);
        }
        _ => {
            push(number / 1_000_000, words);
            words.push("million");
            rest(number % 1_000_000, words);
        }
    }
}

fn rest(number: u64, words: &mut Vec<&'static str>) {
    if number > 0 {
        push(number, words);
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn numbers_read_as_a_person_says_them() {
        assert_eq!(in_words(0), "zero");
        assert_eq!(in_words(40), "forty");
        assert_eq!(
            in_words(13_153),
            "thirteen thousand one hundred fifty three"
        );
        assert_eq!(in_words(1_000_019), "one million nineteen");
    }
}
