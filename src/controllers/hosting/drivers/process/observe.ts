/** Observes the members of a control plane: which run, and what each answers to a client. */
import { createHash, X509Certificate } from 'node:crypto';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../os/clock.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import { readLogTail } from '../../../../os/process/child.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import {
  isRunMember,
  MEMBERS,
  type MemberCertificate,
  type MemberReport,
  type MemberRun,
} from '../driver.ts';
import type { MemberRuns } from '../runs.ts';
import { createOutageMeter, type OutageMeter } from './api-servers/outage.ts';
import { boundLog } from './logs.ts';
import type { MemberAnswer, MemberSpec } from './member-spec.ts';
import { findMember } from './members.ts';
import type { StartTimes } from './records.ts';
import { createVersionReader, isProcessOutdated } from './running.ts';

export interface MemberObserver {
  readonly outages: OutageMeter;
  readonly observe: (
    specs: readonly MemberSpec[],
    processes: readonly ProcessIdentity[],
    known: KnownMembers,
  ) => Promise<readonly MemberReport[]>;
}

export interface KnownMembers {
  readonly starts: StartTimes;
  readonly runs: MemberRuns;
  /** The version of our own controllers. */
  readonly version: string;
}

/** Remembers since when a process does not answer: by its log file, which no other member has. */
export function createObserver(clock: Clock): MemberObserver {
  const silent = new Map<string, Date>();
  const versionOf = createVersionReader();
  const outages = createOutageMeter(clock);
  return {
    outages,
    observe: (specs, processes, known) =>
      Promise.all(
        specs.map(async (spec) => {
          const process = findMember(spec, processes);
          const times = (known.starts[spec.member] ?? []).map((time) => new Date(time));
          const run = runOf(spec, known);
          const shared = { member: spec.member, starts: times, run };
          await boundLog(spec.logFile);
          if (!process) {
            silent.delete(spec.logFile);
            const logTail = times.length > 0 ? await readLogTail(spec.logFile) : undefined;
            return { ...shared, state: 'Stopped' as const, logTail };
          }
          const answer = await spec.probe(process.command);
          const certificate = await certificateOf(spec, answer);
          const running = {
            ...shared,
            identity: identityOf(process),
            certificate,
            ...optional('reaches', answer.reaches),
            ...optional('isDirect', spec.isDirect?.(process.command)),
            ...(await readRunning(spec, process, known)),
          };
          if (answer.isReady) {
            silent.delete(spec.logFile);
            return {
              ...running,
              state: 'Ready' as const,
              ...optional('outage', outages.answered(spec)),
            };
          }
          const unreadySince = silent.get(spec.logFile) ?? clock.now();
          silent.set(spec.logFile, unreadySince);
          return { ...running, state: 'Starting' as const, unreadySince };
        }),
      ),
  };

  async function readRunning(
    spec: MemberSpec,
    process: ProcessIdentity,
    known: KnownMembers,
  ): Promise<Pick<MemberReport, 'version' | 'isOutdated'>> {
    const { member, command } = spec;
    const run = runOf(spec, known);
    if (!isRunMember(member) || !run) return { version: known.version };
    const version = await versionOf(member, process);
    const running = { version, args: process.command.slice(1) };
    return { version, isOutdated: isProcessOutdated(member, running, { run, args: command.args }) };
  }
}

function runOf({ member }: MemberSpec, { runs }: KnownMembers): MemberRun | undefined {
  return isRunMember(member) ? runs[member] : undefined;
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
