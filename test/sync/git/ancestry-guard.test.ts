import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AncestryCheck, checkAncestry } from '../../../src/sync/git/ancestry-guard.ts';

const OLD = 'a'.repeat(40);
const NEW = 'b'.repeat(40);

describe('S18 accepts a head only when it descends from the last applied commit', () => {
  it.each<[name: string, question: Partial<AncestryCheck>, want: string]>([
    ['accepts the first commit', {}, 'Accepted: it is the first commit'],
    ['accepts what is applied', { lastApplied: NEW }, 'Accepted: it is the commit that is applied'],
    [
      'accepts a head that descends',
      { lastApplied: OLD, ancestry: 'descends' },
      'Accepted: it descends from aaaaaaaaaaaa',
    ],
    [
      'holds a rewritten history',
      { lastApplied: OLD, ancestry: 'diverged' },
      `NotDescendant: bbbbbbbbbbbb does not descend from aaaaaaaaaaaa, which is applied (a forced push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    [
      'holds an older commit',
      { lastApplied: OLD, ancestry: 'older' },
      `NotDescendant: bbbbbbbbbbbb is older than aaaaaaaaaaaa, which is applied (a forced push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    [
      'lets a person accept exactly this head',
      { lastApplied: OLD, ancestry: 'diverged', acceptHead: NEW },
      'Accepted: a person accepted it in place of aaaaaaaaaaaa (spec.source.acceptHead)',
    ],
    [
      'does not take the acceptance of another head',
      { lastApplied: OLD, ancestry: 'older', acceptHead: 'c'.repeat(40) },
      `NotDescendant: bbbbbbbbbbbb is older than aaaaaaaaaaaa, which is applied (a forced push?): push a commit that descends from it, or set spec.source.acceptHead to ${NEW}`,
    ],
    ['does not take a shortened acceptance', { lastApplied: OLD, acceptHead: NEW.slice(0, 12) }, unknown()],
    ['accepts nothing that nobody could decide', { lastApplied: OLD }, unknown()],
  ])('%s', (_, question, want) => {
    const { verdict, because } = checkAncestry({ head: NEW, ...question });
    expect(`${verdict}: ${because}`).toBe(want);
  });

  it('never accepts another head by itself unless it descends', () => {
    const ancestry = fc.constantFrom<AncestryCheck['ancestry'][]>(
      'same',
      'older',
      'diverged',
      'descends',
      undefined,
    );
    fc.assert(
      fc.property(ancestry, fc.boolean(), (how, accepted) => {
        const { verdict } = checkAncestry({
          lastApplied: OLD,
          head: NEW,
          ...(how ? { ancestry: how } : {}),
          ...(accepted ? { acceptHead: NEW } : {}),
        });
        expect(verdict === 'Accepted').toBe(how === 'descends' || accepted);
      }),
    );
  });
});

function unknown(): string {
  return 'Unknown: how bbbbbbbbbbbb stands to aaaaaaaaaaaa, which is applied, is not known yet';
}
