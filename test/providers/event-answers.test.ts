import { describe, expect, it } from 'vitest';
import type { EventAnswer, Provider } from '../../src/providers/contract.ts';
import { createEventAnswers } from '../../src/providers/event-answers.ts';
import type { OpenProviders } from '../../src/providers/registry.ts';
import { machine } from '../support/builders.ts';

const { signal } = new AbortController();
const instance = machine('m', { status: { infra: { providerID: 'local://i-1' } } });

function opened(answer?: Provider['answer']): OpenProviders {
  const provider: Partial<Provider> = answer ? { answer } : {};
  return { local: provider as Provider };
}

describe('createEventAnswers', () => {
  it.each([
    [
      'it is not open',
      {},
      instance,
      'provider local is not open here: run kubenode controllers with --local-machines on the machine of the instances',
    ],
    ['it takes none', opened(), instance, 'provider local takes no answers'],
    ['its machine has no instance', opened(async () => {}), machine('m'), 'Machine m has no instance'],
    ['it takes them', opened(async () => {}), instance, undefined],
  ])('R39 tells why a provider takes no answer: %s', (_, providers, of, expected) => {
    expect(createEventAnswers(() => providers).refusal(of)).toBe(expected);
  });

  it('R39 sends the answer with the instance of the machine', async () => {
    const sent: EventAnswer[] = [];
    const answers = createEventAnswers(() => opened(async (answer) => void sent.push(answer)));
    await answers.send(instance, { eventId: 'e-1', answer: 'StartNow' }, signal);
    expect(sent).toEqual([{ eventId: 'e-1', instanceId: 'local://i-1', answer: 'StartNow' }]);
    await expect(answers.send(machine('m'), { eventId: 'e-1', answer: 'Accept' }, signal)).rejects.toThrow(
      'cannot be answered',
    );
  });
});
