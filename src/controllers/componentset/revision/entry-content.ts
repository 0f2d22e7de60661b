/** Resolves what an entry puts on its host. Pure. */
import type { MachineComponent } from '../../../api/generated/types.ts';
import type { EntryContent } from '../../../api/machine/entry-content.ts';
import type { HostContent } from './change-class.ts';

export type FindInstalled = (componentRef: string) => MachineComponent | undefined;

/** Returns the content of an entry; unknown for a version that does not exist. */
export function contentOf(
  entry: Pick<EntryContent, 'state' | 'componentRef' | 'parameters'> | 'Absent',
  find: FindInstalled,
): HostContent {
  if (entry === 'Absent' || entry.state === 'Absent') return 'Absent';
  const component = find(entry.componentRef);
  return component ? { spec: component.spec, parameters: entry.parameters } : 'Unknown';
}
