/** Verbs of docs/promises.md. The list is closed and short, because many words of that page are verbs or nouns: add only what a line needs. */
const AUXILIARIES = 'is are was were has have does do can may must will';
const VERBS = `
  accept apply begin break cause check commit contain continue cordon count create delete deny depend descend end enter evaluate
  evict exceed forget get give hold ignore import include install join judge keep know lead leave lose make merge need
  obey open pass predict prevent proceed propose prove prune reach read rebuild receive recognize refuse reject remember
  remove render replace require respect resume run send show skip start stop succeed sync take treat uncordon update
  verify wait warn write yield`;

const bases = VERBS.trim().split(/\s+/);
const VERB = new RegExp(
  String.raw`\b(?:${[...AUXILIARIES.split(' '), ...bases.map(formsOf)].join('|')})\b`,
  'i',
);

export function hasVerb(sentence: string): boolean {
  return VERB.test(sentence);
}

/** The plural and the singular in the present: `deny`, `denies`. */
function formsOf(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}(?:y|ies)`;
  return /(?:s|sh|ch|x)$/.test(verb) ? `${verb}(?:es)?` : `${verb}s?`;
}
