import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AncestryCheck, checkAncestry } from '../../../src/sync/git/ancestry-guard.ts';

const OLD = 'a'.repeat(40);
const NEW = 'b'.repeat(40);

describe('S18 accepts a head only when it descends from the last applied commit', () => {
  it.each<[name: string, question: Partial<AncestryCheck>, want: string]>([
    ['accepts the first commit', {}, 'Accepted: it is the first commit'],
    ['accepts the applied commit again', { lastApplied: NEW }, 'Accepted: it is the applied commit'],
    [
      'accepts a head that descends',
      { lastApplied: OLD, ancestry: 'descends' },
      'Accepted: it descends from aaaaaaaaaaaa',
    ],
    [
      'holds a rewritten history',
      { lastApplied: OLD, ancestry: 'diverged' },
      `NotDescendant: bbbbbbbbbbbb does not descend from the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    [
      'holds an older commit',
      { lastApplied: OLD, ancestry: 'older' },
      `NotDescendant: bbbbbbbbbbbb is older than the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    [
      'accepts a head that acceptHead names',
      { lastApplied: OLD, ancestry: 'diverged', acceptHead: NEW },
      'Accepted: spec.source.acceptHead accepts it in place of aaaaaaaaaaaa',
    ],
    [
      'ignores an acceptHead that names another commit',
      { lastApplied: OLD, ancestry: 'older', acceptHead: 'c'.repeat(40) },
      `NotDescendant: bbbbbbbbbbbb is older than the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    ['ignores a shortened acceptHead', { lastApplied: OLD, acceptHead: NEW.slice(0, 12) }, unknown()],
    ['does not accept a head of unknown ancestry', { lastApplied: OLD }, unknown()],
  ])('%s', (_, question, want) => {
    const { verdict, because } = checkAncestry({ head: NEW, ...question });
    expect(`${verdict}: ${because}`).toBe(want);
  });

  it('accepts a different head only if it descends or acceptHead names it', () => {
    const ancestry = fc.constantFrom<AncestryCheck['ancestry'][]>(
      'same',
      'older',
      'diverged',
      'descends',
      undefined,
    );
    fc.assert(
      fc.property(ancestry, fc.boolean(), (relation, accepted) => {
        const { verdict } = checkAncestry({
          lastApplied: OLD,
          head: NEW,
          ...(relation ? { ancestry: relation } : {}),
          ...(accepted ? { acceptHead: NEW } : {}),
        });
        expect(verdict === 'Accepted').toBe(relation === 'descends' || accepted);
      }),
    );
  });
});

function unknown(): string {
  return 'Unknown: it is unknown whether bbbbbbbbbbbb descends from the applied commit aaaaaaaaaaaa';
}
