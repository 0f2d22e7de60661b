/** Observes the members of a control plane: which run, and what each answers to a client. */
import { createHash, X509Certificate } from 'node:crypto';
import type { Clock } from '../../../../os/clock.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import { readLogTail } from '../../../../os/process/child.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { MEMBERS, type MemberCertificate, type MemberReport } from '../driver.ts';
import { boundLog } from './logs.ts';
import { findMember, type MemberAnswer, type MemberSpec } from './members.ts';
import type { StartTimes } from './records.ts';

export interface MemberObserver {
  readonly observe: (
    specs: readonly MemberSpec[],
    processes: readonly ProcessIdentity[],
    known: { readonly starts: StartTimes; readonly version: (spec: MemberSpec) => string | undefined },
  ) => Promise<readonly MemberReport[]>;
}

/** Remembers since when a process does not answer: by its log file, which no other member has. */
export function createObserver(clock: Clock): MemberObserver {
  const silent = new Map<string, Date>();
  return {
    observe: (specs, processes, { starts, version }) =>
      Promise.all(
        specs.map(async (spec) => {
          const process = findMember(spec, processes);
          const times = (starts[spec.member] ?? []).map((time) => new Date(time));
          const shared = { member: spec.member, starts: times };
          await boundLog(spec.logFile);
          if (!process) {
            silent.delete(spec.logFile);
            const logTail = times.length > 0 ? await readLogTail(spec.logFile) : undefined;
            return { ...shared, state: 'Stopped' as const, logTail };
          }
          const answer = await spec.probe();
          const certificate = await certificateOf(spec, answer);
          const running = { ...shared, identity: identityOf(process), certificate, version: version(spec) };
          if (answer.isReady) {
            silent.delete(spec.logFile);
            return { ...running, state: 'Ready' as const };
          }
          const unreadySince = silent.get(spec.logFile) ?? clock.now();
          silent.set(spec.logFile, unreadySince);
          return { ...running, state: 'Starting' as const, unreadySince };
        }),
      ),
  };
}

/** A restart has another pid or start time, and other flags have another digest. */
function identityOf({ pid, startTicks, command }: ProcessIdentity): string {
  return `${pid} ${startTicks} ${createHash('sha256').update(command.join('\0')).digest('hex').slice(0, 16)}`;
}

async function certificateOf(
  { certificateFile }: MemberSpec,
  { certificate }: MemberAnswer,
): Promise<MemberCertificate | undefined> {
  if (!certificate || certificateFile === undefined) return undefined;
  return { ...certificate, expectedSerial: serialOf(await readFileIfExists(certificateFile)) };
}

function serialOf(pem: string | undefined): string | undefined {
  try {
    return pem === undefined ? undefined : new X509Certificate(pem).serialNumber;
  } catch {
    return undefined;
  }
}

/** All members of a control plane that is not prepared. */
export const NO_MEMBERS: readonly MemberReport[] = MEMBERS.map((member) => ({
  member,
  state: 'Stopped',
  starts: [],
}));
