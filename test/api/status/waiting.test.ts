import { describe, expect, it } from 'vitest';
import { type FoundWait, waitingSince } from '../../../src/api/status/waiting.ts';

const NOW = new Date('2030-01-01T12:00:00.000Z');
const BEFORE = '2030-01-01T11:00:00.000Z';
const NODE = { kind: 'Node', name: 'n1' };

describe('since when an object waits', () => {
  it.each<[string, string, Partial<FoundWait>]>([
    ['goes on for the same reason', BEFORE, {}],
    ['goes on when only the message differs', BEFORE, { message: '3 pods are left' }],
    ['begins for another reason', NOW.toISOString(), { reason: 'Held' }],
    ['begins for another blocker', NOW.toISOString(), { blocker: { ...NODE, name: 'n2' } }],
    ['begins without a blocker', NOW.toISOString(), { blocker: undefined }],
  ])('%s: %s', (_, since, fields) => {
    const before = { reason: 'Evicting', blocker: NODE, since: BEFORE, message: '4 pods are left' };
    const found = { reason: 'Evicting', message: '4 pods are left', blocker: NODE, ...fields };
    expect(waitingSince(found, before, NOW).since).toBe(since);
  });

  it('begins now without a wait before it, with a message that fits', () => {
    const found = { reason: 'Held', message: 'x'.repeat(300) };
    const { message, ...rest } = waitingSince(found, undefined, NOW);
    expect(rest).toEqual({ reason: 'Held', since: NOW.toISOString() });
    expect(message).toHaveLength(256);
  });
});
