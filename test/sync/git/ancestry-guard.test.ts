import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AncestryCheck, checkAncestry, replacingHead } from '../../../src/sync/git/ancestry-guard.ts';

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
      `NotDescendant: bbbbbbbbbbbb does not descend from the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or run: kubenode release accept-head ${NEW}`,
    ],
    [
      'holds an older commit',
      { lastApplied: OLD, ancestry: 'older' },
      `NotDescendant: bbbbbbbbbbbb is older than the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or run: kubenode release accept-head ${NEW}`,
    ],
    [
      'accepts a head that acceptHead names',
      { lastApplied: OLD, ancestry: 'diverged', accepted: [{ commit: NEW, replaces: [] }] },
      'Accepted: a person accepted it in place of aaaaaaaaaaaa',
    ],
    [
      'ignores an acceptHead that names another commit',
      { lastApplied: OLD, ancestry: 'older', accepted: [{ commit: 'c'.repeat(40), replaces: [] }] },
      `NotDescendant: bbbbbbbbbbbb is older than the applied commit aaaaaaaaaaaa (force-push?): push a commit that descends from it, or run: kubenode release accept-head ${NEW}`,
    ],
    [
      'ignores a shortened acceptHead',
      { lastApplied: OLD, accepted: [{ commit: NEW.slice(0, 12), replaces: [] }] },
      unknown(),
    ],
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
          ...(accepted ? { accepted: [{ commit: NEW, replaces: [] }] } : {}),
        });
        expect(verdict === 'Accepted').toBe(relation === 'descends' || accepted);
      }),
    );
  });
});

/** Each commit with its parent; `gone` and its descendants are not in the repository any more. */
const PARENTS: Readonly<Record<string, string>> = {
  // Replaced: r1, r2, r3. Accepted: h, and what follows it.
  r2: 'r1',
  r3: 'r2',
  h: 'base',
  h2: 'h',
  h3: 'h2',
  'h2-rewritten': 'h',
};

function historyOf(commit: string): string[] {
  const parent = PARENTS[commit];
  return [commit, ...(parent ? historyOf(parent) : [])];
}

async function relate(ancestor: string, descendant: string) {
  if (descendant.startsWith('gone')) return 'missing';
  return historyOf(descendant).includes(ancestor) ? 'descends' : 'diverged';
}

describe('replacingHead: an accepted head stays accepted', () => {
  const H = { commit: 'h', replaces: ['r3'] };
  const OLDER = { commit: 'r1', replaces: ['r3'] };

  it.each<[name: string, commitAndHead: string, accepted: typeof H, expected: string | undefined]>([
    ['a commit that the head replaced', 'r3 h', H, 'h'],
    ['the same for a later head', 'r3 h3', H, 'h'],
    ['an older commit of the replaced history, which some object still carries', 'r1 h3', H, 'h'],
    ['no commit that came after the acceptance', 'h3 h2-rewritten', H, undefined],
    ['nothing for a head that does not continue it', 'r1 other', H, undefined],
    ['not itself', 'h other', H, undefined],
    ['commits between an older accepted head and what it replaced', 'r2 r1', OLDER, 'r1'],
    ['an applied commit that the repository does not have any more', 'gone h3', H, 'h'],
  ])('replaces %s', async (_, commitAndHead, accepted, expected) => {
    const [commit = '', head = ''] = commitAndHead.split(' ');
    const question = { head, accepted: [accepted] };
    expect(await replacingHead({ commit, isReleased: false }, question, relate)).toBe(expected);
  });

  it('does not take a released commit for replaced only because a forced push removed it', async () => {
    const question = { head: 'h2-rewritten', accepted: [H] };
    expect(await replacingHead({ commit: 'gone', isReleased: true }, question, relate)).toBeUndefined();
  });
});

function unknown(): string {
  return 'Unknown: it is unknown whether bbbbbbbbbbbb descends from the applied commit aaaaaaaaaaaa';
}
