import { describe, expect, it } from 'vitest';
import { groupFleet } from '../../../../src/console/state/fleet.ts';
import { searchEntries, searchFleet } from '../../../../src/console/state/pages/search.ts';
import { PICTURE_STATE } from '../../../cluster/console/picture-state.ts';

const entries = searchEntries(PICTURE_STATE, groupFleet(PICTURE_STATE));

function found(text: string, limit = 4): readonly string[] {
  return searchFleet(entries, text, limit).map(({ kind, title }) => `${kind} ${title}`);
}

describe('searchFleet', () => {
  it.each([
    ['the pages for an empty text', '', ['page fleet', 'page releases', 'page rollouts', 'page repairs']],
    ['a machine', 'prod-b-08', ['machine prod-b-08']],
    [
      'a cluster before its machines',
      'prod',
      ['cluster prod', 'machine prod-a-01', 'machine prod-a-02', 'machine prod-a-03'],
    ],
    ['a set', 'general', ['set general-nodes']],
    ['a rule', 'hung', ['rule kubelet-hung']],
    ['a rule of a limit', 'zones', ['rule zones: concurrency']],
    ['a commit by its first digits', '5F2C', ['commit 5f2c9a41d0b7']],
    ['each word anywhere', 'machine notready prod', ['machine prod-a-05', 'machine prod-b-08']],
    ['nothing', 'no such thing', []],
  ])('finds %s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('prefers titles that begin with the text, however many others there are before them', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({
      kind: 'machine' as const,
      title: index === 49 ? 'm-7' : `x-m-7${index}`,
      hint: '',
      address: '',
    }));
    expect(searchFleet(many, 'm-7', 3).map(({ title }) => title)).toEqual(['m-7', 'x-m-70', 'x-m-71']);
  });
});

it('CON-03 gives each kind the address of what it names', () => {
  const addresses = ['prod-a-01', 'prod', 'general-nodes', 'kubelet-hung', '5f2c9a41d0b7'].map(
    (title) => entries.find((entry) => entry.title === title)?.address,
  );
  expect(addresses).toEqual([
    '#/machines/prod/prod-a-01',
    '#/fleet?cluster=prod',
    '#/rollouts?cluster=prod',
    '#/repairs',
    '#/releases',
  ]);
});
