//! The page as data: sections of sentences, plots and tables. Nothing in it is escaped yet.

/// A page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) title: String,
    /// Sentences below the title.
    pub(super) head: Vec<String>,
    pub(super) sections: Vec<Section>,
}

/// A part with a heading.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

impl Section {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), blocks: Vec::new() }
    }

    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    pub(super) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub(super) fn plot(&mut self, caption: impl Into<String>, svg: Svg) {
        self.blocks.push(Block::Plots { caption: caption.into(), svgs: vec![svg] });
    }

    /// Itself, if there is anything in it.
    pub(super) fn if_any(self) -> Option<Self> {
        (!self.blocks.is_empty()).then_some(self)
    }
}

/// A plot, drawn, as markup.
#[derive(Debug)]
pub(super) struct Svg(pub(super) String);

/// Something in a section.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph.
    Text(String),
    /// One plot or several of a kind, and what they show.
    Plots { caption: String, svgs: Vec<Svg> },
    /// Figures.
    Table(Table),
}

/// Rows of cells under a head.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) head: Vec<String>,
    /// Columns from the left that hold words; the others hold numbers.
    pub(super) words: usize,
    /// Whether the last column holds words, too.
    pub(super) words_last: bool,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(caption: &str, words: usize, head: &[&str]) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|word| (*word).to_owned()).collect(),
            words,
            ..Self::default()
        }
    }

    pub(super) fn with_words_last(mut self) -> Self {
        self.words_last = true;
        self
    }

    /// Without a column.
    pub(super) fn without(mut self, column: usize) -> Self {
        self.head.remove(column);
        for row in &mut self.rows {
            row.remove(column);
        }
        self.words -= usize::from(column < self.words);
        self
    }

    pub(super) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.head.len());
        self.rows.push(row);
    }
}
