/** The sentences of conditions, and whether they are true of a node. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { AGENT_UNIT, COMPONENT_UNITS } from './breakage.ts';
import { isFull, MACHINE, NODE, unitOf } from './differences.ts';
import type { HostObservation, NodeFile, NodeObservation, NodeUnit } from './observation.ts';

/** What one sentence claims, and of what. */
export interface Claim {
  readonly sentence: string;
  /** Paths and units. Empty: the sentence is unknown. */
  readonly subjects: readonly string[];
  readonly isTrue: boolean;
}

interface Facts {
  readonly declared: HostObservation;
  readonly observed: NodeObservation;
}

type Reader = (words: Readonly<Record<string, string>>, facts: Facts) => Omit<Claim, 'sentence'>;

/** Endings that tell what to do, or what follows. They claim nothing of the node. */
const ENDINGS: readonly RegExp[] = [
  /\. Another program changes it again and again: stop that program, which this finds: auditctl -p wa -w \S+$/,
  /, and a restart does not change that: see what else decides which program it starts, for example a drop-in, with: systemctl cat \S+$/,
  /: started (once|\d+ times) since \S+, the next try is at \S+$/,
];

/** What the journal of the node has of the end of a unit, up to what follows it. Its text may contain anything, also semicolons. */
const EVIDENCE: readonly RegExp[] = [
  /; somebody had systemd stop it; the journal does not have the name/g,
  /; \S+ had it stopped with sudo: .*?(?=: started (?:once|\d+ times) since |; unit |; process |; \/|$)/gs,
  /; its last log lines: .*?(?=: started (?:once|\d+ times) since |; unit |; process |; \/|$)/gs,
];

const READERS: readonly (readonly [RegExp, Reader])[] = [
  [/^(?<path>\/\S+) is missing$/, ofFile((found) => !found)],
  [
    /^(?<path>\/\S+) has other content: line \d+( \([\w.-]+\))?$/,
    ofFile((found, expected) => found?.content !== expected?.content),
  ],
  // Of a program.
  [/^(?<path>\/\S+) has other content$/, ofFile((found, expected) => found?.content !== expected?.content)],
  [/^(?<path>\/\S+) has mode (?<mode>\d+), not \d+$/, ofFile((found, _, { mode }) => found?.mode === mode)],
  [
    /^(?<path>\/\S+) belongs to (?<owner>\S+), not to \S+$/,
    ofFile((found, expected) => found?.owner !== expected?.owner),
  ],
  [
    /^(?<path>\/\S+) is a (link|directory|other), not a file$/,
    ofFile((found) => found !== undefined && found.type !== 'File'),
  ],
  [/^(?<path>\/\S+) is not a link to (?<to>\S+)$/, ofFile((found, _, { to }) => found?.content !== to)],
  [
    /^process (?<pid>\d+) of unit (?<unit>\S+) is stopped by a signal, and answers nothing until: kill -CONT \k<pid>$/,
    ofUnit((found, { pid }) => found.isSuspended && found.pid === pid),
  ],
  [
    /^unit (?<unit>\S+) started on wrong content$/,
    ofUnit((found, _, expected) => found.program !== expected.program),
  ],
  [
    /^unit (?<unit>\S+) failed: (exit code (?<exit>\d+)|.*)$/,
    ofUnit((found, { exit = found.lastExit }) => !isRunning(found) && found.lastExit === exit),
  ],
  [
    /^unit (?<unit>\S+) (?<problems>.+)$/,
    (words, facts) => {
      const { unit = '', problems = '' } = words;
      const isTrue = (found: NodeUnit): boolean =>
        problems.split(', ').every((each) => isProblem(each, found) || isRedefined(each, unit, facts));
      return ofUnit(isTrue)(words, facts);
    },
  ],
  [/^(?<component>\w+) does not run$/, ofComponent((found) => !isRunning(found) || found.isSuspended)],
  [
    /^probes of (?<component>\w+) fail$/,
    (words, facts) => {
      const { component = '' } = words;
      const { subjects } = ofComponent(() => true)(words, facts);
      return { subjects, isTrue: facts.observed.answers.get(component) === false };
    },
  ],
  [
    /^(?<component>\w+) is WaitingForGrant: a unit runs on wrong content: its restart waits for a grant$/,
    ofComponent((found, expected) => found.program !== expected.program),
  ],
  [
    /^(?<component>\w+) is (Committed|Fetching|Staged|Activating): (?<because>.+)$/,
    ({ component = '', because = '' }, facts) => {
      const claim = claimOf(because, facts);
      return { ...claim, subjects: claim.isTrue ? [...claim.subjects, unitOf(component)] : claim.subjects };
    },
  ],
  [
    /^the newest state of the Machine could not be taken over: the disk is full: .*$/,
    (_, { observed }) => ({ subjects: [MACHINE], isTrue: isFull(observed) && observed.isAccepted === false }),
  ],
  // A part of the sentence of a component, which names it.
  [/^the disk is full: .*$/, (_, { observed }) => ({ subjects: [], isTrue: isFull(observed) })],
  [
    /^the agent does not renew its Lease$/,
    (_, { observed }) => ({ subjects: [AGENT_UNIT], isTrue: isAgentSilent(observed) }),
  ],
  [
    /^Node \S+ (is not Ready: .*|does not exist)$/,
    (_, { observed }) => ({ subjects: [NODE], isTrue: observed.isNodeReady === false }),
  ],
];

/** Every sentence of a message. */
export function claimsOf(message: string, facts: Facts): readonly Claim[] {
  return EVIDENCE.reduce((rest, evidence) => rest.replaceAll(evidence, ''), message)
    .split('; ')
    .map((sentence) => claimOf(sentence, facts));
}

function claimOf(sentence: string, facts: Facts): Claim {
  const text = ENDINGS.reduce((rest, ending) => rest.replace(ending, ''), sentence);
  for (const [pattern, read] of READERS) {
    const found = pattern.exec(text);
    if (found) return { sentence, ...read(found.groups ?? {}, facts) };
  }
  return { sentence, subjects: [], isTrue: false };
}

type Words = Readonly<Record<string, string>>;

function ofFile(
  isTrue: (found: NodeFile | undefined, expected: NodeFile | undefined, words: Words) => boolean,
): Reader {
  return (words, { declared, observed }) => {
    const { path = '' } = words;
    return { subjects: [path], isTrue: isTrue(observed.files.get(path), declared.files.get(path), words) };
  };
}

function ofUnit(isTrue: (found: NodeUnit, words: Words, expected: NodeUnit) => boolean): Reader {
  return (words, { declared, observed }) => {
    const { unit = '' } = words;
    const [found, expected] = [observed.units.get(unit), declared.units.get(unit)];
    return { subjects: [unit], isTrue: found && expected ? isTrue(found, words, expected) : false };
  };
}

function ofComponent(isTrue: (found: NodeUnit, expected: NodeUnit) => boolean): Reader {
  return ({ component = '', ...words }, facts) => {
    if (!(component in COMPONENT_UNITS)) return { subjects: [], isTrue: false };
    return ofUnit((found, _, expected) => isTrue(found, expected))(
      { ...words, unit: unitOf(component) },
      facts,
    );
  };
}

function isRunning({ active }: NodeUnit): boolean {
  return active === 'active';
}

/** One of those that are listed after the name of a unit. */
function isProblem(problem: string, found: NodeUnit): boolean {
  if (/^(has failed|does not run)( \(.+\))?$/.test(problem)) return !isRunning(found);
  if (problem === 'is masked') return found.enabled.startsWith('masked');
  if (problem === 'is not enabled') return found.enabled !== 'enabled';
  return problem === 'is missing' && found.enabled === '';
}

/** A file of the unit differs, or systemd has not read one. */
function isRedefined(problem: string, unit: string, { declared, observed }: Facts): boolean {
  if (problem !== 'has another definition') return false;
  const paths = [...declared.files.keys()].filter((path) => path.includes(`/${unit}.service`));
  return (
    observed.units.get(unit)?.needsReload === true ||
    paths.some((path) => !isDeepStrictEqual(observed.files.get(path), declared.files.get(path)))
  );
}

/** Its last heartbeat may have come between the breakage and the moment before it. */
function isAgentSilent({ isHeartbeatNew, units }: NodeObservation): boolean {
  const unit = units.get(AGENT_UNIT);
  return isHeartbeatNew === false || !unit || !isRunning(unit) || unit.isSuspended;
}
