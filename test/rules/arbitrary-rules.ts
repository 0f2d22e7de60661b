/** Generates rules: valid ones from the catalog, and arbitrary JSON with words of the rule language. */
import fc from 'fast-check';
import { FACT_KINDS } from '../../src/rules/catalog.ts';
import type { FactParamValue, ScalarValue } from '../../src/rules/compiled-rule.ts';
import type { FactKind } from '../../src/rules/facts/fact.ts';
import type { FactField, FactParam } from '../../src/rules/facts/field.ts';

/** Those that conditions may read. */
const KINDS: readonly FactKind[] = [...FACT_KINDS.values()].filter((kind: FactKind) => !kind.onlyInGate);
export const FIELDS: readonly string[] = [...new Set(KINDS.flatMap(({ fields }) => [...fields.keys()]))];

/** Few values, so that comparisons of a rule often share a fact. */
function paramFor(param: FactParam): fc.Arbitrary<FactParamValue> {
  if (param.type === 'codes') return fc.constantFrom([79], [48, 63]);
  if (param.type === 'seconds') return fc.constantFrom(60, 3600);
  if (param.type === 'choice') return fc.constantFrom(...param.values.slice(0, 2));
  return fc.constantFrom('nodefs', 'imagefs');
}

/** Numbers inside the range only: a bound at its end always or never holds and is refused. */
export function scalarFor(field: FactField): fc.Arbitrary<ScalarValue> {
  if (field.type === 'boolean') return fc.boolean();
  if (field.type === 'number') return fc.integer({ min: 1, max: 9 });
  return fc.constantFrom(...(field.values?.slice(0, 2) ?? ['a', 'b']));
}

function comparisonFor(field: FactField): fc.Arbitrary<{ operator: string; value: unknown }> {
  const scalar = scalarFor(field);
  const equal = scalar.map((value) => ({ operator: 'equal', value }));
  const one = scalar.map((value) => ({ operator: 'in', value: [value] }));
  if (field.type !== 'number') return fc.oneof(equal, one);
  const bounds = fc.constantFrom('lessThan', 'lessThanInclusive', 'greaterThan', 'greaterThanInclusive');
  return fc.oneof(fc.record({ operator: bounds, value: scalar }), equal, one);
}

function leafOf({ name: fact, params, fields }: FactKind): fc.Arbitrary<object> {
  const anyParams = fc.record(
    Object.fromEntries([...params].map(([name, param]) => [name, paramFor(param)])),
  );
  return fc.constantFrom(...fields).chain(([name, field]) =>
    fc.tuple(anyParams, comparisonFor(field)).map(([chosen, comparison]) => ({
      fact,
      params: chosen,
      path: `$.${name}`,
      ...comparison,
    })),
  );
}

const anyLeaf: fc.Arbitrary<object> = fc.oneof(...KINDS.map(leafOf));

function treeOf(depth: number): fc.Arbitrary<object> {
  if (depth === 0) return anyLeaf;
  const inner = fc.array(treeOf(depth - 1), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    anyLeaf,
    inner.map((all) => ({ all })),
    inner.map((any) => ({ any })),
  );
}

/** Valid conditions: at most three levels and 27 comparisons. */
export const anyCondition: fc.Arbitrary<object> = treeOf(3);

const WORDS =
  'all any not fact params path operator value condition event node type status Ready $.status $.uptimeSeconds ' +
  '$.count equal in lessThan greaterThan notEqual True reason windowSeconds __proto__ constructor ';
const anyWord = fc.constantFrom(...WORDS.split(' '));
const anyScalar = fc.oneof(
  anyWord,
  fc.integer({ min: -1, max: 900 }),
  fc.boolean(),
  fc.constant(null),
  fc.double(),
);

export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ tree: unknown; list: unknown; object: unknown }>(
  (tie) => ({
    tree: fc.oneof({ depthSize: 'small' }, anyScalar, fc.anything(), tie('list'), tie('object')),
    list: fc.array(tie('tree'), { maxLength: 4 }),
    object: fc.dictionary(anyWord, tie('tree'), { maxKeys: 5 }),
  }),
).tree;

/** A JSON pointer into the valid rule of sample-rule.ts, so that the rest of the rule stays valid. */
export const anyPointer: fc.Arbitrary<string> = fc.oneof(
  fc
    .constantFrom('', '/0', '/0/fact', '/0/params', '/0/params/type', '/0/path', '/0/operator', '/0/value')
    .map((rest) => `/rule/conditions/all${rest}`),
  fc
    .constantFrom('', '/any', '/any/0', '/any/1/value', '/any/1/params/windowSeconds', '/any/0/value')
    .map((rest) => `/rule/conditions/all/1${rest}`),
  fc.constantFrom('/rule', '/rule/conditions', '/rule/gate', '/rule/maxAgeSeconds', '/ladder', '/ladder/0'),
  fc.constantFrom('/ladder/0/plan', '/ladder/0/verify', '/target', '/tests', '/tests/0', '/tests/0/given'),
  fc.constantFrom('/tests/0/given/event', '/tests/0/given/node', '/tests/0/given/condition'),
);
