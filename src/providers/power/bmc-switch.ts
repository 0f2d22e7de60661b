/** Switches the power of a host by its BMC: that of its Machine, or that of its entry in a pool. */
import type { Machine, MachineBMC } from '../../api/generated/types.ts';
import { SecretError } from '../../api/secrets/read.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { NoPowerSwitch, PowerSwitch } from '../power.ts';
import { setBootOnce } from '../redfish/boot-once.ts';
import type { BmcEndpoint } from '../redfish/connection.ts';
import { type RedfishTarget, readPower, requestPower } from '../redfish/system.ts';
import type { OpenProviders } from '../registry.ts';
import { type BmcSecretClient, readBmcSecret } from './bmc-secret.ts';

export interface BmcSwitchParts {
  readonly providers: OpenProviders;
  /** As kubenode-machine, which may read Secrets of kubenode-system by name. */
  readonly secrets: BmcSecretClient;
  readonly timeoutMs: number;
}

/** Returns the switch; or why the machine has none that can be trusted. */
export async function openBmcSwitch(
  machine: Machine,
  { providers, secrets, timeoutMs }: BmcSwitchParts,
  signal: AbortSignal,
): Promise<PowerSwitch | NoPowerSwitch> {
  const bmc = machine.spec.bmc ?? (await bmcOfPool(machine, providers, signal));
  const { name } = machine.metadata;
  if (!bmc) return { because: `neither Machine ${name} nor its entry in a pool has a BMC: set spec.bmc` };
  const endpoint = endpointOf(bmc, timeoutMs);
  if (!endpoint) return { because: `the address of the BMC of Machine ${name} is invalid: ${bmc.address}` };
  const systemUuid = expectedUuid(machine, bmc);
  // Without it the BMC of any host would be believed, and switched.
  if (!systemUuid) return { because: `the system UUID of Machine ${name} is not known: set bmc.systemUUID` };
  try {
    const credentials = await readBmcSecret({ machine, bmc, endpoint }, secrets, signal);
    return createBmcSwitch({ endpoint, credentials, systemUuid, ...optional('system', bmc.system) });
  } catch (error) {
    if (error instanceof SecretError) return { because: error.message };
    throw error;
  }
}

function expectedUuid({ status }: Machine, { systemUUID }: MachineBMC): string | undefined {
  return systemUUID ?? status?.import?.systemUUID;
}

async function bmcOfPool(
  { spec, status }: Machine,
  providers: OpenProviders,
  signal: AbortSignal,
): Promise<MachineBMC | undefined> {
  const id = status?.infra?.providerID;
  if (spec.infra.provider !== 'ssh' || id === undefined) return undefined;
  return (await providers.ssh?.get(id, signal))?.bmc;
}

/** Returns undefined for an address with more than a host and a port. */
export function endpointOf(
  { address, certificateFingerprint: fingerprint }: Pick<MachineBMC, 'address' | 'certificateFingerprint'>,
  timeoutMs: number,
): BmcEndpoint | undefined {
  const url = URL.parse(address);
  const isPlain = url?.protocol === 'https:' && url.username === '' && `${url.pathname}${url.search}` === '/';
  if (!isPlain) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(url.port || 443), fingerprint, timeoutMs };
}

function createBmcSwitch(target: RedfishTarget): PowerSwitch {
  return {
    way: 'BMC',
    state: (signal) => readPower(target, signal),
    request: (wanted, signal) => requestPower(target, wanted, signal),
    bootOnce: (device, signal) => setBootOnce(target, device, signal),
  };
}
