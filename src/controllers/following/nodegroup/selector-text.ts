/** Parses label selectors as kubectl takes them, such as `pool=gpu,zone in (a,b),!spot`. Pure. */
import type { LabelExpression, LabelSelector } from '../../../kube/objects/selector.ts';

const NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const PREFIX = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const KEY = `(?<key>(?:${PREFIX}/)?${NAME})`;
const VALUE = new RegExp(`^(?:${NAME})?$`);
const FORMS: readonly (readonly [RegExp, LabelExpression['operator']])[] = [
  [new RegExp(`^${KEY}$`), 'Exists'],
  [new RegExp(`^! *${KEY}$`), 'DoesNotExist'],
  [new RegExp(`^${KEY} *==? *(?<values>[^=]*)$`), 'In'],
  [new RegExp(`^${KEY} *!= *(?<values>.*)$`), 'NotIn'],
  [new RegExp(`^${KEY} +in *\\((?<values>[^()]*)\\)$`), 'In'],
  [new RegExp(`^${KEY} +notin *\\((?<values>[^()]*)\\)$`), 'NotIn'],
];

/** Returns a selector of at least one requirement; undefined: the text has none, or one that is not valid. */
export function parseSelectorText(text: string): LabelSelector | undefined {
  const parsed = splitOutsideLists(text).map((part) => parseRequirement(part.trim()));
  const matchExpressions = parsed.flatMap((each) => each ?? []);
  return parsed.length === matchExpressions.length ? { all: false, matchExpressions } : undefined;
}

/** Commas in the parentheses of a list separate its values. */
function splitOutsideLists(text: string): readonly string[] {
  return text.split(/,(?![^()]*\))/);
}

function parseRequirement(text: string): LabelExpression | undefined {
  for (const [form, operator] of FORMS) {
    const { key, values } = form.exec(text)?.groups ?? {};
    if (key !== undefined) return values === undefined ? { key, operator } : listed(key, operator, values);
  }
  return undefined;
}

function listed(
  key: string,
  operator: LabelExpression['operator'],
  text: string,
): LabelExpression | undefined {
  const values = text.split(',').map((each) => each.trim());
  return values.every((each) => VALUE.test(each)) ? { key, operator, values } : undefined;
}
