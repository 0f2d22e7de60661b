/** Names a revision by the versions that it brings. Its own name is for programs, and for the options of commands. Pure. */
import type { SetComponent } from '../generated/types.ts';

export type NamedVersion = Pick<SetComponent, 'name' | 'componentRef' | 'state'>;

const SHOWN_VERSIONS = 3;

/** `web 2.2.0, kubelet 1.36.3`; a component that is removed is `no web`. */
export function versionsText(components: readonly NamedVersion[]): string {
  const versions = components.map(({ name, componentRef, state }) =>
    state === 'Absent' ? `no ${name}` : `${name} ${componentRef.slice(name.length + 1)}`,
  );
  const more = versions.length - SHOWN_VERSIONS;
  return [...versions.slice(0, SHOWN_VERSIONS), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
