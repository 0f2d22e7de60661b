/** Where a reader who runs the commands of a page, in its order, is stopped by what an earlier command left. Pure. */

/** Of `npm start`, which README.md begins with. */
const DEMO = '../kubenode-demo';
/** What a reader of README.md has: what it created, and what a checkout of kubenode contains. */
const FOLDERS = [DEMO, '../my-fleet', 'fleet', 'rules'];

interface Left {
  /** Folders that exist: `init` creates none of them again. */
  readonly folders: Set<string>;
  /** The repository of the Pipeline of the local hub. */
  followed: string | undefined;
  /** After `local down`, until clusters are started again. */
  isDown: boolean;
}

type Words = readonly string[];

/** `isFirst`: nothing ran before, as for README.md itself. */
export function deadEnds(commands: readonly Words[], isFirst = false): readonly string[] {
  const left: Left = isFirst
    ? { folders: new Set(), followed: undefined, isDown: false }
    : { folders: new Set(FOLDERS), followed: DEMO, isDown: false };
  return commands.flatMap((words) => {
    const line = kubenodeLine(words);
    const problem = problemOf(line, left);
    follow(line, left);
    return problem === undefined ? [] : [`${words.join(' ')}: ${problem}`];
  });
}

function kubenodeLine([program, ...rest]: Words): Words {
  if (program === 'npm' && rest[0] === 'start') return ['start', '--demo', DEMO];
  return program === 'kubenode' ? rest : [];
}

function problemOf(line: Words, { folders, followed, isDown }: Left): string | undefined {
  const created = createdFolder(line);
  if (created !== undefined && folders.has(created)) return `${created} exists`;
  const repository = followedRepository(line) ?? followed;
  if (followed !== undefined && repository !== followed) return `the hub follows ${followed}`;
  return isDown && asksCluster(line) ? 'no cluster runs' : undefined;
}

function follow(line: Words, left: Left): void {
  const repository = followedRepository(line);
  const created = createdFolder(line) ?? repository;
  if (created !== undefined) left.folders.add(created);
  left.followed = repository ?? left.followed;
  const [, command] = /^(?:local )?(up|down|start)(?: |$)/.exec(line.join(' ')) ?? [];
  if (command !== undefined) left.isDown = command === 'down';
  if (command === 'down' && line.includes('--wipe')) left.followed = undefined;
}

function createdFolder([command, folder]: Words): string | undefined {
  return command === 'init' ? folder : undefined;
}

const REPOSITORY_OPTIONS: Readonly<Record<string, string>> = { start: '--demo', sync: '--from' };

/** The clusters of the fleets that this machine runs. */
const LOCAL_CONTEXTS: ReadonlySet<string | undefined> = new Set(['hub', 'test', 'pre', 'prod']);

function isElsewhere(line: Words): boolean {
  const at = line.indexOf('--context');
  return at >= 0 && !LOCAL_CONTEXTS.has(line[at + 1]);
}

/** Of the local hub: a URL, or the context of another cluster, belongs to a hub elsewhere. */
function followedRepository(line: Words): string | undefined {
  const at = line.indexOf(REPOSITORY_OPTIONS[line[0] ?? ''] ?? '');
  const repository = at < 0 || isElsewhere(line) ? undefined : line[at + 1];
  return repository?.includes('://') ? undefined : repository;
}

/** Commands that read files, or start clusters themselves. */
const WITHOUT_CLUSTER =
  /^(?:$|start|init|render|rules|validate|explain|completion|version|local (?:up|down|kubelet)|agent (?:components|status|unit|why))(?: |$)/;

function asksCluster(line: Words): boolean {
  return !WITHOUT_CLUSTER.test(line.join(' '));
}
