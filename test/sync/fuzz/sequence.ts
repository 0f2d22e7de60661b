/** Random sequences of acts. The same seed gives the same sequence. */
import fc from 'fast-check';
import { type Act, type ByHand, FAULTS } from './acts.ts';
import { configMap, type Edit } from './content.ts';
import { anyFields, anyObject, refusedObject } from './objects.ts';

export interface SequenceOptions {
  readonly maxActs: number;
  /** Whether other managers create objects that a commit may name. */
  readonly foreign: boolean;
}

export function sequenceFor(seed: number, options: SequenceOptions): readonly Act[] {
  const [sequence = []] = fc.sample(anySequence(options), { seed, numRuns: 1 });
  return sequence;
}

/** Units of the good commit and new ones, so that objects move, units merge and units appear. */
const unit = fc.constantFrom('web', 'space', 'gadgets', 'extra', 'more');
const nth = fc.nat(30);

const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ edit: fc.constant('put' as const), unit, object: anyObject }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      edit: fc.constant('put-many' as const),
      unit,
      count: fc.integer({ min: 2, max: 60 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ edit: fc.constant('change' as const), nth, fields: anyFields }) },
  { weight: 3, arbitrary: fc.record({ edit: fc.constant('remove' as const), nth }) },
  { weight: 3, arbitrary: fc.record({ edit: fc.constant('move' as const), nth, unit }) },
  { weight: 2, arbitrary: fc.record({ edit: fc.constant('rename-unit' as const), unit, to: unit }) },
  { weight: 1, arbitrary: fc.record({ edit: fc.constant('empty-unit' as const), unit }) },
  { weight: 1, arbitrary: fc.record({ edit: fc.constant('empty-cluster' as const) }) },
);

const anyRefusedEdit: fc.Arbitrary<Edit> = fc.record({
  edit: fc.constant('put' as const),
  unit,
  object: refusedObject,
});

const dropped = fc.constant<readonly Edit[]>([{ edit: 'drop-cluster' }]);

/** A refused commit is seldom: nothing of it is applied. */
const edits = fc.oneof(
  { weight: 14, arbitrary: fc.array(anyEdit, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.tuple(anyEdit, anyRefusedEdit) },
  { weight: 1, arbitrary: dropped },
);

const anyCommit: fc.Arbitrary<Act> = fc.record(
  { act: fc.constant('commit' as const), edits, pauseMs: fc.constantFrom(0, 300, 1000, 2500) },
  { requiredKeys: ['act', 'edits'] },
);

const anyHand: fc.Arbitrary<ByHand> = fc.record({
  act: fc.constant('hand' as const),
  what: fc.constantFrom('edit', 'take', 'delete', 'strip labels', 'add finalizer'),
  nth,
});

/** Under names that commits use as well, but the good commit does not. In a namespace that no commit deletes. */
const anyForeign: fc.Arbitrary<ByHand> = fc
  .constantFrom('e', 'f', 'immutable')
  .map((name) => ({ act: 'foreign', object: configMap(name, { value: 'foreign', other: 'foreign' }) }));

const anyProcess: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('process' as const),
  which: fc.constantFrom('holder', 'holder', 'other'),
  what: fc.constantFrom('kill', 'stop', 'freeze'),
});

const anyFault: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('fault' as const),
  fault: fc.constantFrom(...FAULTS),
});

const anyPause: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('pause' as const),
  milliseconds: fc.constantFrom(100, 500, 1500, 4000),
});

function anySequence({ maxActs, foreign }: SequenceOptions): fc.Arbitrary<readonly Act[]> {
  const anyAct: fc.Arbitrary<Act> = fc.oneof(
    { weight: 20, arbitrary: anyCommit },
    { weight: 4, arbitrary: fc.constant<Act>({ act: 'revert' }) },
    { weight: 1, arbitrary: fc.constant<Act>({ act: 'unrenderable' }) },
    { weight: 2, arbitrary: anyFault },
    { weight: 12, arbitrary: anyHand },
    { weight: foreign ? 4 : 0, arbitrary: anyForeign },
    { weight: 2, arbitrary: anyProcess },
    { weight: 6, arbitrary: fc.constant<Act>({ act: 'expect-beat' }) },
    { weight: 8, arbitrary: anyPause },
  );
  return fc.array(anyAct, { minLength: 2, maxLength: maxActs, size: 'max' });
}
