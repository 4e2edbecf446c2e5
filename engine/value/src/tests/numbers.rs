//! Numbers: how they are read and written, and arithmetic with Terraform's digits.

use proptest::prelude::*;

use crate::Number;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

#[test]
fn reads_what_tonumber_reads() {
    let good = [
        ("1e5", "100000"),
        ("1p5", "32"),
        ("inf", "+Inf"),
        ("-Inf", "-Inf"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+5", "5"),
        ("00012", "12"),
        ("-0", "-0"),
        ("1.50", "1.5"),
        ("1e-10", "0.0000000001"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.0000000000000000000000000000000000000000001", "1.0000000000000000000000000000000000000000001"),
        ("1e999999999", "+Inf"),
        ("-1e99999999999999999999", "-Inf"),
        ("1e-999999999999", "0"),
    ];
    for (text, printed) in good {
        assert_eq!(number(text).to_string(), printed, "{text}");
    }
    for text in
        ["", " 1", "1 ", "0x10", "1_0", "0b1", "1e", "1e+", ".", "-", "e5", "٣", "1.2.3", "NaN", "infinity", "--1"]
    {
        assert_eq!(Number::parse(text), None, "{text}");
    }
}

#[test]
fn arithmetic_has_terraforms_digits() {
    let a_third = format!("0.{}5", "3".repeat(154));
    let two_thirds = format!("0.{}7", "6".repeat(153));
    let big_seventh = format!("{}{}", "142857142857142857142857142857.", "142857".repeat(20) + "14285");
    let table: &[(&str, char, &str, &str)] = &[
        ("1", '/', "3", &a_third),
        ("2", '/', "3", &two_thirds),
        ("0.1", '+', "0.2", "0.3"),
        ("1e30", '/', "7", &big_seventh),
        ("9223372036854775807", '+', "1", "9223372036854775808"),
        ("-9223372036854775808", '-', "1", "-9223372036854775809"),
        ("9223372036854775807", '*', "9223372036854775807", "85070591730234615847396907784232501249"),
        ("9223372036854775808", '-', "1", "9223372036854775807"),
        ("-7", '%', "3", "-1"),
        ("7", '%', "-3", "1"),
        ("7.5", '%', "2", "1.5"),
        ("0", '*', "-1", "-0"),
        ("-0", '%', "5", "-0"),
        ("-5", '%', "5", "0"),
        ("1", '/', "0", "+Inf"),
        ("-1", '/', "0", "-Inf"),
        ("1e400", '+', "1", &format!("1{}", "0".repeat(400))),
        ("1e400", '-', "1e400", "0"),
    ];
    for (a, operator, b, expected) in table {
        let (a, b) = (number(a), number(b));
        let result = match operator {
            '+' => a.add(&b),
            '-' => a.sub(&b),
            '*' => a.mul(&b),
            '/' => a.div(&b),
            _ => a.modulo(&b),
        };
        assert_eq!(result.unwrap().to_string(), *expected, "{a} {operator} {b}");
    }
    let remainder = number("5").modulo(&number("0.3")).unwrap().to_string();
    assert_eq!(remainder, format!("0.1{}76", "9".repeat(152)));
    assert_eq!(number("0").div(&number("0")), None);
    assert_eq!(Number::INFINITY.sub(&Number::INFINITY), None);
    assert_eq!(number("0").mul(&Number::INFINITY), None);
}

#[test]
fn equal_numbers_are_equal_whatever_made_them() {
    assert_eq!(number("0.1").add(&number("0.2")).unwrap(), number("0.3"));
    assert_eq!(number("-0"), number("0"));
    assert_eq!(number("1e3"), Number::from(1000));
    assert_ne!(number("1").div(&number("3")).unwrap(), number("0.3333333333333333"));
}

#[test]
fn rounds_to_whole_numbers() {
    for (text, floor, ceil, trunc) in
        [("1.5", "1", "2", "1"), ("-1.5", "-2", "-1", "-1"), ("3", "3", "3", "3"), ("0.2", "0", "1", "0")]
    {
        let n = number(text);
        assert_eq!((n.floor(), n.ceil(), n.trunc()), (number(floor), number(ceil), number(trunc)), "{text}");
    }
    for (text, floor, ceil) in [("-0.5", "-1", "0"), ("-0", "0", "0"), ("-0.0000001", "-1", "0")] {
        let n = number(text);
        assert_eq!((n.floor().to_string(), n.ceil().to_string()), (floor.to_owned(), ceil.to_owned()), "{text}");
    }
    assert_eq!(number("-0").to_radix(10).unwrap(), "0");
}

#[test]
fn set_keys_have_ten_digits() {
    for (text, key) in [
        ("100", "100"),
        ("10000000000", "1e+10"),
        ("12345678901", "1.23456789e+10"),
        ("0.1", "0.1"),
        ("0.00001", "1e-05"),
        ("-2.5", "-2.5"),
        ("0", "0"),
    ] {
        assert_eq!(number(text).set_key(), key, "{text}");
    }
}

#[test]
fn other_notations() {
    let table: &[(&str, &str, &str, &str)] = &[
        ("12345.678", "1.234568e+04", "12345.678000", "12345.678"),
        ("1e21", "1.000000e+21", "1000000000000000000000.000000", "1e+21"),
        ("100000", "1.000000e+05", "100000.000000", "100000"),
        ("1000000", "1.000000e+06", "1000000.000000", "1e+06"),
        ("0.00001", "1.000000e-05", "0.000010", "1e-05"),
        ("0", "0.000000e+00", "0.000000", "0"),
        ("-0.0000001", "-1.000000e-07", "-0.000000", "-1e-07"),
    ];
    for (text, exponent, fixed, general) in table {
        let n = number(text);
        assert_eq!((&*n.to_exponent(Some(6)), &*n.to_fixed(6), &*n.to_general(None)), (*exponent, *fixed, *general));
    }
    for (text, precision, expected) in
        [("2.25", 1, "2.2"), ("2.5", 0, "2"), ("0.25", 1, "0.2"), ("9.99", 1, "10.0"), ("0.5", 0, "0"), ("1.5", 0, "2")]
    {
        assert_eq!(number(text).to_fixed(precision), expected, "{text}");
    }
    assert_eq!(number("3000000000000").to_radix(16).unwrap(), "2ba7def3000");
    assert_eq!(number("-8").to_radix(8).unwrap(), "-10");
    assert_eq!(number("1.5").to_radix(8), None);
}

#[test]
fn floats_in_and_out() {
    for float in [0.1, 1e300, -2.5, 1e-300, 9007199254740993.0] {
        assert_eq!(Number::from_f64(float).unwrap().to_f64(), float);
    }
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(number("1.5").to_i64(), None);
    assert_eq!(number("-1").to_usize(), None);
    assert_eq!(Number::from(u64::MAX).to_string(), "18446744073709551615");
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        (any::<i64>(), 1..1000i64).prop_map(|(a, b)| Number::from(a).div(&Number::from(b)).unwrap()),
        (any::<i64>(), -400..400i32).prop_map(|(m, e)| number(&format!("{m}e{e}"))),
    ]
}

proptest! {
    #[test]
    fn text_reads_back_as_the_same_number(n in any_number()) {
        prop_assert_eq!(number(&n.to_string()), n);
    }

    #[test]
    fn integers_agree_with_wide_machine_integers(a in any::<i64>(), b in any::<i64>()) {
        let (wide_a, wide_b) = (i128::from(a), i128::from(b));
        let (a, b) = (Number::from(a), Number::from(b));
        prop_assert_eq!(a.add(&b).unwrap().to_string(), (wide_a + wide_b).to_string());
        prop_assert_eq!(a.sub(&b).unwrap().to_string(), (wide_a - wide_b).to_string());
        let product = wide_a * wide_b;
        if product != 0 {
            prop_assert_eq!(a.mul(&b).unwrap().to_string(), product.to_string());
        }
        prop_assert_eq!(a.cmp(&b), wide_a.cmp(&wide_b));
    }

    #[test]
    fn order_follows_subtraction(a in any_number(), b in any_number()) {
        let difference = a.sub(&b).unwrap();
        prop_assert_eq!(a.cmp(&b), difference.cmp(&Number::from(0)));
    }
}

/// Widths of `format!` end at 16 bits; numbers do not.
#[test]
fn long_numbers_are_written() {
    let number = Number::parse("1e70000").unwrap();
    assert_eq!(number.to_string(), format!("1{}", "0".repeat(70_000)));
    assert_eq!(Number::parse("1e-70000").unwrap().to_string(), format!("0.{}1", "0".repeat(69_999)));
    assert_eq!(Number::parse("1").unwrap().to_fixed(70_000).len(), 70_002);
    assert_eq!(Number::parse("1").unwrap().to_exponent(Some(70_000)).len(), 70_006);
}
