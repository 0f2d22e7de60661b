/** Answers the announced events of machines by the provider that announced them. */
import type { Machine } from '../api/generated/types.ts';
import { type EventAnswer, ProviderError } from './contract.ts';
import { type OpenProviders, startHintOf } from './registry.ts';

export interface EventAnswers {
  /** Returns why no answer can be given for this machine, for people; undefined: its provider takes answers. */
  readonly refusal: (machine: Machine) => string | undefined;
  /** Resolves when the provider has accepted the answer. Throws ProviderError. */
  readonly send: (
    machine: Machine,
    answer: Omit<EventAnswer, 'instanceId'>,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** `providers` returns those that this process opened. */
export function createEventAnswers(providers: () => OpenProviders): EventAnswers {
  return {
    refusal: (machine) => {
      const { provider: name } = machine.spec.infra;
      const provider = providers()[name];
      if (!provider) return `provider ${name} is not open here: ${startHintOf(name)}`;
      if (!provider.answer) return `provider ${name} takes no answers`;
      if (machine.status?.infra?.providerID !== undefined) return undefined;
      return `Machine ${machine.metadata.name} has no instance`;
    },
    async send({ spec, status, metadata }, { eventId, answer }, signal) {
      const provider = providers()[spec.infra.provider];
      const instanceId = status?.infra?.providerID;
      if (!provider?.answer || instanceId === undefined) {
        throw new ProviderError('Terminal', `events of Machine ${metadata.name} cannot be answered`);
      }
      await provider.answer({ eventId, instanceId, answer }, signal);
    },
  };
}
