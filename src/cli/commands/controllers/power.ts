/** Opens the power switches of machines, and the answers to their providers, with the providers that the machine controller opened. */
import type { GroupParts } from '../../../controllers/group.ts';
import { createEventAnswers } from '../../../providers/event-answers.ts';
import type { BmcSecretClient } from '../../../providers/power/bmc-secret.ts';
import { createPowerSwitches } from '../../../providers/power/switches.ts';
import type { OpenProviders } from '../../../providers/registry.ts';

/** Returns the switches, and the opener by which they learn of the providers. A provider is opened once in a process. */
export function powerOfInstances(
  openInstances: GroupParts['openInstances'],
  secrets: BmcSecretClient,
): Pick<GroupParts, 'openInstances' | 'power' | 'eventAnswers'> {
  let providers: OpenProviders = {};
  return {
    openInstances: async (client, imports) => {
      const parts = await openInstances(client, imports);
      providers = parts?.providers ?? {};
      return parts;
    },
    power: createPowerSwitches({ providers: () => providers, secrets }),
    eventAnswers: createEventAnswers(() => providers),
  };
}
