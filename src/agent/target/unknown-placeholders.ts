/** Finds the placeholders of a MachineComponent that no machine could replace, before any machine has it. Pure. */
import type { MachineComponentSpec } from '../../api/generated/types.ts';
import type { TargetFacts } from './facts.ts';
import { createReplacer, unknownText } from './placeholders.ts';
import { replaceTemplates } from './templates.ts';

export interface UnknownPlaceholder {
  readonly path: string;
  readonly message: string;
}

/** Which placeholders are known does not depend on the machine. */
const ANY_MACHINE: TargetFacts = {
  name: '',
  address: '',
  zone: '',
  os: '',
  arch: '',
  clusterServer: '',
  hostDirectory: '/',
  systemdUnits: true,
  portOf: (_component, { port }) => port,
};

export function findUnknownPlaceholders(spec: MachineComponentSpec): readonly UnknownPlaceholder[] {
  const ports = Object.fromEntries(spec.ports.map(({ name, port }) => [name, port]));
  const input = { entry: { parameters: {} }, spec, machine: ANY_MACHINE, directory: '', ports };
  const found: UnknownPlaceholder[] = [];
  replaceTemplates(spec, (text, path) => {
    const replacer = createReplacer(input);
    const replaced = replacer.replace(text);
    if (replacer.unknown.size > 0) found.push({ path, message: unknownText(replacer) });
    return replaced;
  });
  return found;
}
