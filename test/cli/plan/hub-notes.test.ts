import { describe, expect, it } from 'vitest';
import type { Freeze, Pipeline, Window } from '../../../src/api/generated/types.ts';
import { hubNotes } from '../../../src/cli/plan/hub-notes.ts';

/** A Tuesday. */
const NOW = new Date('2030-01-01T12:00:00Z');
const FREEZE: Freeze = {
  name: 'sale',
  from: '2029-12-31T00:00:00Z',
  until: '2030-01-02T00:00:00Z',
  reason: 'the sale of the year',
};
const NIGHT: Window = { name: 'night', start: '22:00', end: '23:00', timeZone: 'UTC' };

function pipeline(name: string, freezes: readonly Freeze[], windows: readonly Window[]): Pipeline {
  return {
    metadata: { name },
    spec: { freezes, stages: [{ name: 'prod', windows }] },
  } as unknown as Pipeline;
}

describe('hubNotes', () => {
  it.each<
    [name: string, freezes: readonly Freeze[], windows: readonly Window[], expected: readonly string[]]
  >([
    ['nothing of a Pipeline that is open', [], [], []],
    [
      'a freeze, until when, and why',
      [FREEZE],
      [],
      ['Pipeline fleet: closed now by freeze sale until 2030-01-02T00:00:00.000Z: the sale of the year'],
    ],
    [
      'a closed window, and when it opens',
      [],
      [NIGHT],
      [
        'Pipeline fleet: stage prod is closed now: outside of the windows (night): the next one opens at 2030-01-01T22:00:00.000Z',
      ],
    ],
    [
      'a freeze that begins soon',
      [{ ...FREEZE, from: '2030-01-01T20:00:00Z' }],
      [],
      [
        'Pipeline fleet: closes at 2030-01-01T20:00:00.000Z, by freeze sale until 2030-01-02T00:00:00.000Z: the sale of the year',
      ],
    ],
  ])('S36 shows what is closed now and next: %s', (_, freezes, windows, expected) => {
    const pipelines = [pipeline('fleet', freezes, windows), pipeline('other', [FREEZE], [NIGHT])];
    expect(hubNotes({ clusters: [], pipelines }, 'fleet', NOW)).toEqual(expected);
  });

  it('S36 shows closed times of no Pipeline while it is unknown which one promotes the commit', () => {
    const pipelines = [pipeline('fleet', [FREEZE], [NIGHT])];
    expect(hubNotes({ clusters: [], pipelines }, undefined, NOW)).toEqual([]);
  });
});
