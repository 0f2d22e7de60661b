/** Switches the power of an instance by the provider that created it. */
import type { Machine } from '../../api/generated/types.ts';
import { type Instance, type Provider, ProviderError } from '../contract.ts';
import type { NoPowerSwitch, PowerState, PowerSwitch } from '../power.ts';
import { type OpenProviders, startHintOf } from '../registry.ts';

/** Returns the switch; or why the provider of the machine has none. */
export function openInstanceSwitch(machine: Machine, providers: OpenProviders): PowerSwitch | NoPowerSwitch {
  const { name } = machine.metadata;
  const { provider: providerName } = machine.spec.infra;
  const id = machine.status?.infra?.providerID;
  const provider = providers[providerName];
  if (!provider) {
    const hint = startHintOf(providerName);
    return { because: `provider ${providerName} of Machine ${name} is not open here: ${hint}` };
  }
  if (!provider.capabilities.power) {
    return { because: `provider ${providerName} of Machine ${name} cannot switch power` };
  }
  // Its machine would run again, while a repair believes that it is off.
  if (provider.capabilities.startsStopped) {
    return {
      because: `the machine controller starts each stopped instance of provider ${providerName}: Machine ${name} would not stay off`,
    };
  }
  if (id === undefined) return { because: `Machine ${name} has no instance yet` };
  return createInstanceSwitch(id, machine, provider);
}

function createInstanceSwitch(id: string, machine: Machine, provider: Provider): PowerSwitch {
  async function state(signal: AbortSignal): Promise<PowerState> {
    const instance = await provider.get(id, signal);
    if (instance) requireOwner(instance, machine);
    return powerOf(id, instance?.state ?? 'Gone');
  }
  return {
    way: 'Provider',
    state,
    async request(wanted, signal) {
      if ((await state(signal)) === wanted) return;
      await provider.power(id, wanted === 'On' ? 'on' : 'off', signal);
    },
  };
}

/** Throws for an instance whose tags name another Machine: an id in a status does not prove that it is its own. */
function requireOwner({ id, tags }: Instance, { metadata }: Machine): void {
  if (tags.machineUid === metadata.uid) return;
  const message = `instance ${id} has the UID of another Machine than ${metadata.name} in its tags`;
  throw new ProviderError('Terminal', message, { reason: 'InstanceOfAnotherMachine' });
}

/** Pending may be on its way to either state. An instance that does not exist has no power to switch. */
const POWER: Readonly<Record<Exclude<Instance['state'], 'Gone'>, PowerState>> = {
  Running: 'On',
  Stopped: 'Off',
  Pending: 'Changing',
  Unknown: 'Unknown',
};

function powerOf(id: string, state: Instance['state']): PowerState {
  if (state !== 'Gone') return POWER[state];
  throw new ProviderError('NotFound', `instance ${id} does not exist: it has no power state`);
}
