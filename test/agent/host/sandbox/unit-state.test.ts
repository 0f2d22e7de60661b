import { describe, expect, it } from 'vitest';
import {
  activeState,
  afterExit,
  NOT_STARTED,
  type RestartInput,
  type UnitState,
} from '../../../../src/agent/host/sandbox/unit-state.ts';

type ActiveInput = Parameters<typeof activeState>;

const RUNNING: UnitState = { intent: 'Running', restarts: 0 };

describe('activeState', () => {
  it.each<[name: string, input: ActiveInput, expected: string]>([
    ['a service that runs', ['Service', RUNNING, true], 'Active'],
    ['a service that waits for its restart', ['Service', RUNNING, false], 'Activating'],
    ['a service that ended well', ['Service', { ...RUNNING, outcome: 'Succeeded' }, false], 'Inactive'],
    ['a service that failed', ['Service', { ...RUNNING, outcome: 'Failed' }, false], 'Failed'],
    ['a service that is being stopped', ['Service', NOT_STARTED, true], 'Deactivating'],
    ['a stopped service', ['Service', NOT_STARTED, false], 'Inactive'],
    ['a hook that runs', ['OneShot', RUNNING, true], 'Activating'],
    ['a hook that succeeded', ['OneShot', { ...RUNNING, outcome: 'Succeeded' }, false], 'Active'],
    ['a hook that failed', ['OneShot', { ...RUNNING, outcome: 'Failed' }, false], 'Failed'],
    ['a hook that was stopped', ['OneShot', NOT_STARTED, false], 'Inactive'],
  ])('of %s', (_, input, expected) => {
    expect(activeState(...input)).toBe(expected);
  });
});

describe('afterExit', () => {
  it.each<[name: string, input: Partial<RestartInput>, expected: string]>([
    ['restarts always', { result: 'exit code 0' }, 'Restart'],
    ['restarts what ended while no agent ran', { result: undefined }, 'Restart'],
    ['restarts a failure', { policy: 'OnFailure', result: 'SIGKILL' }, 'Restart'],
    ['leaves a success', { policy: 'OnFailure', result: 'exit code 0' }, 'Succeeded'],
    ['never restarts', { policy: 'Never', result: 'exit code 1' }, 'Failed'],
    ['never restarts a success', { policy: 'Never', result: 'exit code 0' }, 'Succeeded'],
    ['gives up at the limit', { recentRestarts: 3 }, 'Failed'],
    ['goes on below the limit', { recentRestarts: 2 }, 'Restart'],
  ])('%s', (_, input, expected) => {
    const usual = { policy: 'Always', maxPerMinute: 3, result: 'exit code 1', recentRestarts: 0 } as const;
    expect(afterExit({ ...usual, ...input })).toBe(expected);
  });
});
