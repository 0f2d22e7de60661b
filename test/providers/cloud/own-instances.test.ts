import { describe, expect, it } from 'vitest';
import {
  changingError,
  ownEvents,
  requireFound,
  tagsMissingError,
} from '../../../src/providers/cloud/own-instances.ts';
import { ProviderError } from '../../../src/providers/contract.ts';

const EVENTS = ['ours', 'deleted', 'of-others'].map((instanceId) => {
  return { eventId: `e-${instanceId}`, instanceId, type: 'Reboot' };
});

async function lookUp(id: string): Promise<object | undefined> {
  if (id === 'of-others') throw tagsMissingError(id, 'copy them');
  return id === 'ours' ? {} : undefined;
}

describe('ownEvents', () => {
  it('returns the events of our instances that exist', async () => {
    expect((await ownEvents(EVENTS, lookUp)).map(({ eventId }) => eventId)).toEqual(['e-ours']);
  });

  it.each(['Terminal', 'Retryable', 'Auth'] as const)(
    'overlooks no event when a look-up fails with %s',
    async (code) => {
      const failure = new ProviderError(code, 'no answer', { reason: 'InvalidParameterValue' });
      await expect(ownEvents(EVENTS, () => Promise.reject(failure))).rejects.toBe(failure);
    },
  );
});

describe('the errors of our instances', () => {
  it('tell what the instance lacks, and what to do', () => {
    expect(tagsMissingError('x:///1', 'copy them')).toMatchObject({
      code: 'Terminal',
      reason: 'TagsMissing',
      message: 'instance x:///1 does not have its tags: copy them',
    });
  });

  it('tell when to call again while it changes', () => {
    expect(changingError('x:///1', 'Deleting', 'is being deleted')).toMatchObject({
      code: 'Retryable',
      reason: 'Deleting',
      message: 'instance x:///1 is being deleted',
      retryAfterSeconds: 10,
    });
  });

  it('tell that the instance does not exist', () => {
    expect(requireFound('found', 'x:///1')).toBe('found');
    expect(() => requireFound(undefined, 'x:///1')).toThrow('instance x:///1 does not exist');
  });
});
