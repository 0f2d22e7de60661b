/** Compiles a tree of conditions: the JSON of json-rules-engine without its ambiguous parts. */
import { isRecord, type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { type ConditionTree, listLeaves } from '../compiled-rule.ts';
import { type ReportProblem, readArray, suggestName, typeProblem } from '../problems.ts';
import { compileLeaf, reportOtherKeys } from './leaf.ts';

/** The depth of the schema in the CRD. */
const MAX_DEPTH = 3;
const MAX_WIDTH = 8;
const MAX_LEAVES = 32;

const FORMS = ['all', 'any', 'fact'] as const;

export function compileTree(
  report: ReportProblem,
  path: string,
  written: unknown,
): ConditionTree | undefined {
  const tree = compileNode(report, path, written, MAX_DEPTH);
  const leaves = tree ? listLeaves(tree).length : 0;
  if (leaves > MAX_LEAVES) {
    return report(path, `must have at most ${MAX_LEAVES} comparisons, got ${leaves}: split the rule`);
  }
  return tree;
}

function compileNode(
  report: ReportProblem,
  path: string,
  written: unknown,
  depth: number,
): ConditionTree | undefined {
  if (!isRecord(written)) {
    return report(path, typeProblem('an object with all, any or fact', written));
  }
  const forms = FORMS.filter((form) => Object.hasOwn(written, form));
  const [form, second] = forms;
  if (form === undefined) return reportMissingForm(report, path, written);
  if (second !== undefined) {
    return report(path, `has ${forms.join(' and ')} side by side, which is ambiguous: nest them`);
  }
  if (form === 'fact') return compileLeaf(report, path, written);
  if (depth === 0) {
    return report(path, `must not nest deeper than ${MAX_DEPTH}: flatten it, or split the rule`);
  }
  return compileJoin(report, path, written, { form, depth });
}

/** Explains unsupported fields of the engine; for others it suggests the nearest name. */
function reportMissingForm(report: ReportProblem, path: string, written: JsonRecord): undefined {
  const keys = Object.keys(written);
  if (keys.some((key) => key === 'not' || key === 'condition')) {
    reportOtherKeys(report, path, written);
    return undefined;
  }
  const hints = keys.map((key) => suggestName(key, FORMS));
  return report(path, `must have one of all, any and fact${hints.find((hint) => hint !== '') ?? ''}`);
}

function compileJoin(
  report: ReportProblem,
  path: string,
  written: JsonRecord,
  { form, depth }: { readonly form: 'all' | 'any'; readonly depth: number },
): ConditionTree | undefined {
  const at = `${path}.${form}`;
  const items = readArray(report, at, valueAt(written, form));
  reportOtherKeys(report, path, written, [form]);
  if (!items) return undefined;
  if (items.length === 0) return report(at, 'must not be empty: an empty list would always match');
  if (items.length > MAX_WIDTH) return report(at, `must have at most ${MAX_WIDTH} entries: nest them`);
  const valid = items.flatMap((item, index) => compileNode(report, `${at}[${index}]`, item, depth - 1) ?? []);
  if (valid.length < items.length) return undefined;
  return form === 'all' ? { all: valid } : { any: valid };
}
