//! Visits drawn from what was learnt: which functions run on an object in one go, and what each touches.

use crate::mixture::{Corpus, Mixture};
use crate::random::Random;
use crate::touch::Touch;

/// Cells of one function are drawn together with this probability, as code of one basic block runs together, and
/// each for itself otherwise.
const TOGETHER: f64 = 0.5;
/// Functions in fewer visits of a class than this are left out of it.
const RARE: f64 = 0.001;

/// Functions that run on an object in one go.
#[derive(Clone, Debug)]
pub struct Class {
    /// Visits of it, in events.
    pub weight: f64,
    /// Index of a touch and in which share of the visits it takes part.
    pub parts: Vec<(usize, f64)>,
}

/// One class for each function, as if each ran alone.
pub fn function_classes(touches: &[Touch]) -> Vec<Class> {
    let classes = touches
        .iter()
        .enumerate()
        .map(|(index, touch)| Class { weight: touch.runs, parts: vec![(index, 1.0)] });
    classes.collect()
}

/// The classes of a mixture. A class has as many visits as its most frequent function has runs, which makes loops over
/// many objects harmless: their visits are counted by object.
pub fn mixture_classes(corpus: &Corpus, mixture: &Mixture, touches: &[Touch]) -> Vec<Class> {
    let known = touches.iter().enumerate();
    let known = known.filter_map(|(index, touch)| Some((index, touch, corpus.number(touch.word)?)));
    let known: Vec<(usize, &Touch, usize)> = known.collect();
    let runs = |class: usize| {
        known.iter().map(move |(index, touch, number)| {
            let share = mixture.samples(*number)[class] / corpus.count(*number);
            (*index, f64::from(share) * touch.runs)
        })
    };
    let classes = (0..mixture.classes()).filter_map(|class| {
        let weight = runs(class).map(|part| part.1).fold(0.0, f64::max);
        let parts = runs(class).map(|(index, runs)| (index, runs / weight));
        (weight > 0.0).then(|| Class { weight, parts: parts.filter(|part| part.1 > RARE).collect() })
    });
    classes.collect()
}

/// Draws `count` sets of cells, shared out among classes by weight.
pub fn draw(classes: &[Class], touches: &[Touch], count: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let total: f64 = classes.iter().map(|class| class.weight).sum();
    let mut sets = Vec::with_capacity(count);
    let mut owed = 0.0;
    for class in classes {
        owed += class.weight / total * count as f64;
        let here = owed as usize;
        owed -= here as f64;
        sets.extend(draw_class(class, touches, here, random));
    }
    sets
}

fn draw_class(class: &Class, touches: &[Touch], count: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, share) in &class.parts {
        let mut present: Vec<usize> = (0..count).collect();
        random.shuffle(&mut present);
        present.truncate(round(share * count as f64, random));
        touch_all(&touches[*index], &present, &mut sets, random);
    }
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets.retain(|set| !set.is_empty());
    sets
}

/// Adds what a function touches to the visits it is present in. Their order is random, so the place of a visit in it
/// serves as the number shared by cells that are touched together.
fn touch_all(touch: &Touch, present: &[usize], sets: &mut [Vec<usize>], random: &mut Random) {
    let count = present.len() as f64;
    for (cell, rate) in &touch.cells {
        for (place, visit) in present.iter().enumerate() {
            let chance = if random.unit() < TOGETHER { (place as f64 + 0.5) / count } else { random.unit() };
            if chance < *rate {
                sets[*visit].push(*cell);
            }
        }
    }
}

/// A number rounded up or down, so that the mean is right.
fn round(number: f64, random: &mut Random) -> usize {
    number as usize + usize::from(random.unit() < number.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(word: (i32, u32), runs: f64, cells: &[(usize, f64)]) -> Touch {
        Touch { word, runs, cells: cells.to_vec() }
    }

    #[test]
    fn cells_are_drawn_as_often_as_they_are_touched() {
        let touches = [touch((0, 1), 30.0, &[(0, 1.0), (1, 0.25)]), touch((0, 2), 10.0, &[(2, 1.0)])];
        let sets = draw(&function_classes(&touches), &touches, 4000, &mut Random::new(9));
        let share = |cell| sets.iter().filter(|set| set.contains(&cell)).count() as f64 / sets.len() as f64;
        assert!((share(0) - 0.75).abs() < 0.01);
        assert!((share(1) - 0.75 * 0.25).abs() < 0.03);
        assert!((share(2) - 0.25).abs() < 0.01);
    }

    #[test]
    fn functions_of_one_class_share_visits() {
        let touches = [touch((0, 1), 10.0, &[(0, 1.0)]), touch((0, 2), 10.0, &[(1, 1.0)])];
        let class = Class { weight: 10.0, parts: vec![(0, 1.0), (1, 0.5)] };
        let sets = draw(&[class], &touches, 1000, &mut Random::new(9));
        assert_eq!(sets.iter().filter(|set| **set == [0, 1]).count(), 500);
        assert_eq!(sets.iter().filter(|set| **set == [0]).count(), 500);
    }
}
