/** Tells several API servers apart, which have the same files and differ by their ports. */
import { matchesSpec, type ProcessSpec } from '../../../../../local/processes/specs.ts';
import type { ApiServersState } from '../../../../../local/state.ts';
import { API_SERVERS, type ApiServerMember } from '../../driver.ts';
import type { MemberAnswer, MemberSpec } from '../member-spec.ts';

export interface ApiServerParts {
  readonly servers: ApiServersState;
  readonly ask: (url: string) => Promise<MemberAnswer>;
}

/** Several API servers differ by their ports. One without a port of its own was started as the only one, and is the first. */
export function apiServerOf(
  member: ApiServerMember,
  spec: ProcessSpec,
  { servers, ask }: ApiServerParts,
): Pick<MemberSpec, 'matches' | 'isDirect' | 'probe'> {
  const indexIn = (found: readonly string[]): number => servers.ports.indexOf(portIn(found) ?? 0);
  return {
    matches: (found) => matchesSpec(found, spec) && API_SERVERS[Math.max(0, indexIn(found))] === member,
    isDirect: (found) => indexIn(found) < 0,
    probe: (found) => {
      const url = new URL(spec.readyUrl);
      url.port = String(portIn(found) ?? spec.port);
      return ask(url.href);
    },
  };
}

const PORT_FLAG = '--secure-port=';

function portIn(command: readonly string[]): number | undefined {
  const flag = command.find((arg) => arg.startsWith(PORT_FLAG));
  return flag === undefined ? undefined : Number(flag.slice(PORT_FLAG.length));
}
