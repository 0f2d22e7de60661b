/** Finds the services that systemd stops together with another one: those that require it. */
import type { RunCommand } from './commands.ts';
import { unitName } from './unit-files.ts';

const PROPERTIES = '--property=RequiredBy,BoundBy,ConsistsOf';
const SERVICE = /^(?<name>.+)\.service$/;

/** Returns their names, without the suffix. */
export async function dependentServices(run: RunCommand, name: string): Promise<readonly string[]> {
  const { stdout } = await run(['systemctl', 'show', PROPERTIES, '--value', '--', unitName(name)]);
  const names = stdout.split(/\s+/).flatMap((unit) => SERVICE.exec(unit)?.groups?.['name'] ?? []);
  return [...new Set(names)];
}
