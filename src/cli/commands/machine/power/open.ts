/** Opens the power switch of a machine for a person: that of its BMC, or that of its instance in a cloud. */
import type { Machine } from '../../../../api/generated/types.ts';
import { PRINCIPAL_MACHINE } from '../../../../api/names.ts';
import { connect } from '../../../../kube/client/connect.ts';
import type { BmcSecretClient } from '../../../../providers/power/bmc-secret.ts';
import { createPowerSwitches } from '../../../../providers/power/switches.ts';
import type { PowerSwitch, PowerWay } from '../../../../providers/power.ts';
import { CLOUDS, type Cloud, type OpenProviders } from '../../../../providers/registry.ts';
import { createSshProvider } from '../../../../providers/ssh/pool/provider.ts';
import type { ConnectionFlags } from '../../../connection.ts';
import { CliError } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { connectOptionsFor } from '../../../principal.ts';
import { explainProviderError } from '../../../providers/error.ts';
import { openCloud } from '../../../providers/open-cloud.ts';
import { noSwitchError } from './errors.ts';

export interface SwitchRequest {
  readonly machine: Machine;
  readonly way: PowerWay;
}

/** Returns the way that the person named, or the one that leads to the switch: an instance of a cloud has no BMC. */
export function wayOf({ spec }: Machine, via: PowerWay | undefined): PowerWay {
  return via ?? (cloudOf(spec.infra.provider) ? 'Provider' : 'BMC');
}

/** Runs the work with the switch. */
export async function withPowerSwitch<T>(
  io: Io,
  flags: ConnectionFlags,
  request: SwitchRequest,
  work: (power: PowerSwitch) => Promise<T>,
): Promise<T> {
  const { name } = request.machine.metadata;
  try {
    return request.way === 'Provider'
      ? await withInstance(io, request, work)
      : await withBmc(io, flags, request, work);
  } catch (error) {
    throw explainProviderError(`Machine ${name}`, error);
  }
}

/** Uses the account of the person: the credentials, the region and the endpoint are found as in `kubenode provider check`. */
async function withInstance<T>(
  io: Io,
  request: SwitchRequest,
  work: (power: PowerSwitch) => Promise<T>,
): Promise<T> {
  const cloud = cloudOf(request.machine.spec.infra.provider);
  const providers = cloud ? { [cloud]: await openCloud(io, cloud) } : {};
  return await work(await openSwitch(io, request, { providers, secrets: NO_SECRETS }));
}

/** The Secret of the BMC is read as kubenode-machine, which administrators may impersonate. */
async function withBmc<T>(
  io: Io,
  flags: ConnectionFlags,
  request: SwitchRequest,
  work: (power: PowerSwitch) => Promise<T>,
): Promise<T> {
  const client = await connect(await connectOptionsFor(io, flags, PRINCIPAL_MACHINE));
  try {
    // It tells which host of a pool a machine has, and with it the BMC. It never gives one back here.
    const ssh = createSshProvider({ client, clock: io.clock, verifyClean: refuse });
    return await work(await openSwitch(io, request, { providers: { ssh }, secrets: client }));
  } finally {
    await client.close();
  }
}

interface SwitchParts {
  readonly providers: OpenProviders;
  readonly secrets: BmcSecretClient;
}

async function openSwitch(
  { signal }: Io,
  { machine, way }: SwitchRequest,
  { providers, secrets }: SwitchParts,
): Promise<PowerSwitch> {
  const switches = createPowerSwitches({ providers: () => providers, secrets });
  const power = await switches.open(machine, way, signal);
  if ('because' in power) throw noSwitchError(machine.metadata.name, way, power);
  return power;
}

function cloudOf(provider: string): Cloud | undefined {
  return CLOUDS.find((each) => each === provider);
}

const NO_SECRETS: BmcSecretClient = {
  get: () => Promise.reject(new CliError('the switch of an instance reads no Secret')),
};

async function refuse(): Promise<void> {
  throw new CliError('this command returns no host to its pool');
}
