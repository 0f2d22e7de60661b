import { describe, expect, it } from 'vitest';
import { compareFact } from '../../src/constructs/comparisons.ts';
import * as helpers from '../../src/constructs/index.ts';
import { FACT_KINDS } from '../../src/rules/catalog.ts';

const OPERATORS = ['above', 'atLeast', 'atMost', 'below', 'in', 'is'];

describe('compareFact', () => {
  it.each([...FACT_KINDS.values()])('has the operators of every field of $name', (kind) => {
    const fields: object = compareFact(kind, { name: 'x' });
    expect(Object.keys(fields)).toEqual([...kind.fields.keys()]);
    for (const comparisons of Object.values(fields)) {
      expect(Object.keys(comparisons as object).toSorted()).toEqual(OPERATORS);
    }
  });

  it('has a helper in kubenode/constructs for every fact of this version', () => {
    expect([...FACT_KINDS.keys()].filter((name) => !Object.hasOwn(helpers, name))).toEqual([]);
  });
});
