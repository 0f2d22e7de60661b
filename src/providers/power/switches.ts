/** Opens the power switch of a machine: that of its instance at the provider, or that of its BMC. */
import type { PowerSwitches } from '../power.ts';
import type { OpenProviders } from '../registry.ts';
import type { BmcSecretClient } from './bmc-secret.ts';
import { openBmcSwitch } from './bmc-switch.ts';
import { openInstanceSwitch } from './instance-switch.ts';

export interface PowerSwitchParts {
  /** Returns the providers that this process opened. */
  readonly providers: () => OpenProviders;
  /** As kubenode-machine, which may read Secrets of kubenode-system by name. */
  readonly secrets: BmcSecretClient;
  /** How long a BMC may take for one answer. */
  readonly timeoutMs?: number;
}

/** BMCs that are busy take 10 s; a reconcile does not wait for one that takes longer. */
const TIMEOUT_MS = 20_000;

export function createPowerSwitches({
  providers,
  secrets,
  timeoutMs = TIMEOUT_MS,
}: PowerSwitchParts): PowerSwitches {
  return {
    open: async (machine, way, signal) =>
      way === 'Provider'
        ? openInstanceSwitch(machine, providers())
        : await openBmcSwitch(machine, { providers: providers(), secrets, timeoutMs }, signal),
  };
}
