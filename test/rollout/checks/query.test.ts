import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import {
  type ComparedMachines,
  comparesWithRest,
  expandQuery,
  MAX_QUERY_CHARS,
} from '../../../src/rollout/checks/query.ts';

const MACHINES = { batch: ['m-1', 'm-2.eu.example'], rest: ['m-3'] };

function expanded(query: string, machines: ComparedMachines | undefined): string {
  const found = expandQuery(query, machines);
  return 'query' in found ? found.query : `problem: ${found.problem}`;
}

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `node-${index}.eu-central-1.compute`);
}

describe('the query of a check', () => {
  it.each([
    ['up', 'up'],
    ['up{node=~"${batch}"}', 'up{node=~"(?:m-1|m-2[.]eu[.]example)"}'],
    [
      'a{i=~"${batch}:9100"} / b{n=~"${rest}"} / c{n=~"${rest}"}',
      'a{i=~"(?:m-1|m-2[.]eu[.]example):9100"} / b{n=~"(?:m-3)"} / c{n=~"(?:m-3)"}',
    ],
    ['up{x="${other} $1 $& $batch"}', 'up{x="${other} $1 $& $batch"}'],
  ])('ROL-22 names the machines of the batch and the rest: %s', (query, expected) => {
    expect(expanded(query, MACHINES)).toBe(expected);
  });

  it('knows whether it compares with the rest', () => {
    expect([comparesWithRest('a{n=~"${rest}"}'), comparesWithRest('a{n=~"${batch}"}')]).toEqual([
      true,
      false,
    ]);
  });

  it.each<[what: string, query: string, machines: ComparedMachines | undefined, problem: string]>([
    [
      'in a stage',
      '${batch}',
      undefined,
      'a query may name ${batch} in a check of a MachineComponentSet only',
    ],
    [
      'in a stage, the rest',
      '${rest}',
      undefined,
      'a query may name ${rest} in a check of a MachineComponentSet only',
    ],
    ['without a batch', '${batch}', { batch: [], rest: ['m-3'] }, 'no machine of the batch runs the version'],
    [
      'without a rest',
      '${batch} ${rest}',
      { batch: ['m-1'], rest: [] },
      'no machine that is not updated yet serves, so there is nothing to compare with. Use smaller batches',
    ],
    [
      'with a name that is not one',
      '${rest}',
      { batch: [], rest: ['a"} or vector(0)'] },
      'the name "a\\"} or vector(0)" cannot be part of a query',
    ],
    [
      'with a name with a backslash',
      '${batch}',
      { batch: ['a\\'], rest: [] },
      'the name "a\\\\" cannot be part of a query',
    ],
    [
      'with too many names',
      '${batch}',
      { batch: namesOf(2000), rest: [] },
      `with the names of the machines the query has 68893 characters, allowed: ${MAX_QUERY_CHARS}. Use smaller batches`,
    ],
  ])('ROL-22 asks nothing where names are missing or odd: %s', (_what, query, machines, problem) => {
    expect(expanded(query, machines)).toBe(`problem: ${problem}`);
  });

  it('is not limited by names that it does not use', () => {
    expect(expanded('up', { batch: namesOf(2000), rest: [] })).toBe('up');
    expect(expanded('up', undefined)).toBe('up');
  });

  it('ROL-22 matches exactly these machines as an expression of RE2, whatever valid names they have', () => {
    const letter = fc.constantFrom('a', 'b', '0', '-', '.');
    const anyName = fc.string({ unit: letter, minLength: 1, maxLength: 6 }).map((text) => `a${text}9`);
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 8 }), anyName, (batch, other) => {
        const pattern = RE2JS.compile(`^(?:${expanded('${batch}', { batch, rest: [] })})$`);
        for (const name of batch) expect(pattern.matches(name)).toBe(true);
        expect(pattern.matches(other)).toBe(batch.includes(other));
        expect(pattern.matches(other.replaceAll('.', 'x'))).toBe(batch.includes(other.replaceAll('.', 'x')));
      }),
    );
  });
});
