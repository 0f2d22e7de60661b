/** Hands this host over to another version of the agent, and takes the watchdog away afterwards. */
import type { Host } from '../host/port.ts';
import { PROOF_FILE } from '../layout.ts';
import { beginUpgrade } from './slot-store.ts';
import type { AgentUpgrade } from './slots.ts';
import { WATCHDOG_UNIT, watchdogCommand, watchdogUnit } from './watchdog-unit.ts';

/** The upgrade is durable before the watchdog starts, so that a watchdog that finds none has nothing left to do. */
export async function handOver(host: Host, upgrade: AgentUpgrade): Promise<void> {
  const { files, units } = host;
  const unit = watchdogUnit(watchdogCommand(upgrade, host));
  await beginUpgrade(files, upgrade);
  await units.write(unit);
  await units.setEnabled(WATCHDOG_UNIT, true);
  await units.start(WATCHDOG_UNIT);
}

export async function endHandOver({ files, units }: Pick<Host, 'files' | 'units'>): Promise<void> {
  const unit = watchdogUnit([]);
  if (await units.status(unit)) {
    await units.stop(WATCHDOG_UNIT);
    await units.remove(unit);
  }
  await files.remove(PROOF_FILE);
}
