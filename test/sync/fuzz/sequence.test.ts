import { describe, expect, it } from 'vitest';
import { type Act, describeAct } from './acts.ts';
import { applyEdits, CALM_UNIT, GOOD } from './content.ts';
import { sequenceFor } from './sequence.ts';

const OPTIONS = { maxActs: 20, foreign: true };
const sequences = Array.from({ length: 300 }, (_, seed) => sequenceFor(seed, OPTIONS));
const acts = sequences.flat();

describe('random sequences', () => {
  it('are equal for equal seeds, and differ otherwise', () => {
    expect(sequenceFor(5, OPTIONS)).toEqual(sequences[5]);
    expect(new Set(sequences.map((sequence) => JSON.stringify(sequence))).size).toBeGreaterThan(290);
  });

  it('survive JSON, so that a finding can be repeated', () => {
    expect(JSON.parse(JSON.stringify(acts))).toEqual(acts);
  });

  it.each<[name: string, found: (act: Act) => boolean]>([
    ['commit', ({ act }) => act === 'commit'],
    ['revert', ({ act }) => act === 'revert'],
    ['change the cluster by hand', ({ act }) => act === 'hand'],
    ['create foreign objects', ({ act }) => act === 'foreign'],
    ['kill', (act) => act.act === 'process' && act.what === 'kill'],
    ['freeze', (act) => act.act === 'process' && act.what === 'freeze'],
    ['declare Secrets', declares('Secret')],
    ['declare CRDs', declares('CustomResourceDefinition')],
    ['declare TokenReviews', declares('TokenReview')],
    ['break the servers', ({ act }) => act === 'fault'],
    ['empty the cluster', edits('empty-cluster')],
    ['drop the cluster', edits('drop-cluster')],
    ['rename units', edits('rename-unit')],
  ])('%s', (_, found) => {
    expect(acts.filter(found).length).toBeGreaterThan(1);
  });

  it('create no foreign objects unless they are asked to', () => {
    const without = Array.from({ length: 100 }, (_, seed) =>
      sequenceFor(seed, { ...OPTIONS, foreign: false }),
    );
    expect(without.flat().filter(({ act }) => act === 'foreign')).toEqual([]);
  });

  it('are described in one line each', () => {
    for (const act of acts) expect(describeAct(act)).toMatch(/^[^\n]{5,2000}$/);
  });

  it('keep the calm unit in every commit that names the cluster', () => {
    const named = acts.filter((act) => !edits('drop-cluster')(act));
    const commits = named.flatMap((act) => (act.act === 'commit' ? [applyEdits(GOOD, act.edits)] : []));
    expect(commits.filter((content) => content[CALM_UNIT] === undefined)).toEqual([]);
  });
});

function declares(kind: string): (act: Act) => boolean {
  return (act) =>
    act.act === 'commit' && act.edits.some((edit) => edit.edit === 'put' && edit.object.kind === kind);
}

function edits(name: string): (act: Act) => boolean {
  return (act) => act.act === 'commit' && act.edits.some(({ edit }) => edit === name);
}
