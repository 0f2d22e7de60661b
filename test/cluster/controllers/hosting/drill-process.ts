/** A process of its own that makes a drill and prints its steps, for a test that kills it: node drill-process.ts <folder> <name> <uid>. */
import { balancerCommand, controllersCommand, loadPrograms } from '../../../../src/cli/hosting/programs.ts';
import { createProcessDriver } from '../../../../src/controllers/hosting/drivers/process/driver.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const [dir = '', name = '', uid = ''] = process.argv.slice(2);
const clock = createSystemClock();
const { signal } = new AbortController();
const programs = await loadPrograms({ env: process.env, clock, signal }, [], () => undefined);
const driver = createProcessDriver({
  dir,
  machine: 'here',
  clock,
  programs: () => Promise.resolve(programs),
  balancer: balancerCommand,
  controllers: controllersCommand(false),
  endMachines: () => Promise.resolve(),
  version: '0.0.0',
  availableBytes: () => Promise.resolve(8e9),
});
const onStep = (step: string): void => void process.stdout.write(`${step}\n`);
await driver.backups?.drill({ name, uid }, { signal, onStep });
