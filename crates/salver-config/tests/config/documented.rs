//! The table of settings is whole, and the reference page is what it says.

use salver_config::keys::{SETTINGS, Section};
use salver_config::{example, reference};

#[test]
fn the_reference_page_is_fresh() {
    // Tests run in their package's directory.
    let page = std::fs::read_to_string("../../docs/settings.md").unwrap_or_default();
    assert!(page == reference(), "docs/settings.md is stale; `cargo xtask docs` writes it again");
}

#[test]
fn every_setting_is_documented() {
    let (page, file) = (reference(), example());
    for setting in SETTINGS {
        let path = setting.path();
        assert!(setting.help.ends_with('.') || setting.help.contains(". "), "{path}: help is a sentence");
        assert!(!setting.example.is_empty() && !setting.since.is_empty(), "{path}");
        assert!(page.contains(&format!("### `{path}`")), "{path} is not in the reference");
        assert!(file.contains(setting.key), "{path} is not in the example");
    }
}

#[test]
fn keys_are_unique_and_old_names_are_free() {
    for section in Section::ALL {
        for (index, setting) in section.settings().enumerate() {
            assert!(section.settings().skip(index + 1).all(|other| other.key != setting.key), "{}", setting.path());
            for old in setting.old {
                assert!(section.setting(old).is_none(), "{old} is a key of {}", section.header());
                let owners = section.settings().filter(|other| other.old.contains(old)).count();
                assert_eq!(owners, 1, "{old} in {}", section.header());
            }
        }
    }
}
