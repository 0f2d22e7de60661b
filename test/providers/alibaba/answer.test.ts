import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAlibabaId } from '../../../src/providers/alibaba/instance.ts';
import type { EventAnswer } from '../../../src/providers/contract.ts';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';

const REGION = 'cn-hangzhou';

interface AnswerBed extends AlibabaHarness {
  readonly instanceId: string;
  readonly answer: (answer: EventAnswer['answer'], eventId?: string) => Promise<void>;
}

async function open(): Promise<AnswerBed> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const { provider } = harness;
  const instanceId = await provider.create(requestOf({ config: CONFIG, host: 'systemd' }), NEVER);
  const answer: AnswerBed['answer'] = async (word, eventId = 'e-1') => {
    if (!provider.answer) throw new Error('the provider takes no answers');
    await provider.answer({ eventId, instanceId, answer: word }, NEVER);
  };
  return { ...harness, instanceId, answer };
}

describe('the answers of the provider alibaba', () => {
  it('R39 redeploys the instance, which stops at once', async () => {
    const { answer, server, instanceId } = await open();
    const instance = server.ecs.instances.get(parseAlibabaId(instanceId, REGION));
    await answer('StartNow');
    expect(instance?.status).toBe('Stopping');
  });

  it('R39 accepts an inquiry once, and nothing that is not asked', async () => {
    const { answer, server, instanceId } = await open();
    const event = {
      id: 'e-1',
      type: 'SystemMaintenance.IsolateErrorDisk',
      notBefore: '2030-01-02T00:00:00Z',
    };
    server.ecs.events.push({ ...event, instanceId: parseAlibabaId(instanceId, REGION), status: 'Inquiring' });
    await answer('Accept');
    expect(server.ecs.events[0]?.status).toBe('Scheduled');
    await expect(answer('Accept')).rejects.toMatchObject({ code: 'Terminal' });
  });

  it.each(['RedeployInstance', 'AcceptInquiredSystemEvent'])(
    'R31 reports an answer of %s that was lost as Ambiguous',
    async (action) => {
      const { answer, server, instanceId } = await open();
      server.ecs.events.push({
        id: 'e-1',
        type: 'SystemMaintenance.IsolateErrorDisk',
        notBefore: '2030-01-02T00:00:00Z',
        instanceId: parseAlibabaId(instanceId, REGION),
        status: 'Inquiring',
      });
      server.inject('AnswerLost', [action]);
      const word = action === 'RedeployInstance' ? 'StartNow' : 'Accept';
      await expect(answer(word)).rejects.toMatchObject({ code: 'Ambiguous' });
    },
  );

  it('MAC-30 answers for no instance that is not ours', async () => {
    const { answer, server, instanceId } = await open();
    const id = parseAlibabaId(instanceId, REGION);
    const instance = server.ecs.instances.get(id);
    if (!instance) throw new Error('the instance does not exist');
    server.ecs.instances.set(id, { ...instance, tags: {} });
    await expect(answer('StartNow')).rejects.toMatchObject({ code: 'Terminal', reason: 'TagsMissing' });
    expect(instance.status).toBe('Running');
  });
});
