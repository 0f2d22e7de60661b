/** Opens the BMC of a machine for a person. */
import type { Machine } from '../../../../api/generated/types.ts';
import { PRINCIPAL_MACHINE } from '../../../../api/names.ts';
import { connect } from '../../../../kube/client/connect.ts';
import { createPowerSwitches } from '../../../../providers/power/switches.ts';
import type { PowerSwitch } from '../../../../providers/power.ts';
import { createSshProvider } from '../../../../providers/ssh/pool/provider.ts';
import type { ConnectionFlags } from '../../../connection.ts';
import { CliError } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { connectOptionsFor } from '../../../principal.ts';
import { explainProviderError } from '../../../providers/error.ts';
import { noSwitchError } from './errors.ts';

/** Runs the work with the switch. Its Secret is read as kubenode-machine, which administrators may impersonate. */
export async function withPowerSwitch<T>(
  io: Io,
  flags: ConnectionFlags,
  machine: Machine,
  work: (power: PowerSwitch) => Promise<T>,
): Promise<T> {
  const { name } = machine.metadata;
  const { clock, signal } = io;
  const client = await connect(await connectOptionsFor(io, flags, PRINCIPAL_MACHINE));
  try {
    // It tells which host of a pool a machine has, and with it the BMC. It never gives one back here.
    const ssh = createSshProvider({ client, clock, verifyClean: refuse });
    const switches = createPowerSwitches({ providers: () => ({ ssh }), secrets: client });
    const power = await switches.open(machine, 'BMC', signal);
    if ('because' in power) throw noSwitchError(name, power);
    return await work(power);
  } catch (error) {
    throw explainProviderError(`Machine ${name}`, error);
  } finally {
    await client.close();
  }
}

async function refuse(): Promise<void> {
  throw new CliError('this command returns no host to its pool');
}
