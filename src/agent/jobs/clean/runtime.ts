/**
 * Lists and removes the images and containers that the container runtime has and nothing uses. It runs crictl, with arguments of our own
 * only.
 */
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import { HostError } from '../../host/errors.ts';
import type { HostProcesses, RunLimits, RunResult } from '../../host/port.ts';

export interface UnusedItem {
  readonly id: string;
  readonly name: string;
  readonly sizeBytes: number;
}

export interface ContainerRuntime {
  deadContainers(minAgeSeconds: number, now: Date): Promise<readonly UnusedItem[]>;
  /** Returns the images that are neither pinned, nor matched by a pattern, nor used by any container, running or not. */
  unusedImages(keep: readonly string[]): Promise<readonly UnusedItem[]>;
  removeContainer(id: string): Promise<void>;
  removeImage(id: string): Promise<void>;
}

/** The limits of a list. On stderr crictl warns, for example that it has no configuration, and a warning is not part of a list. */
const LIST = { timeoutMs: 60_000, maxOutputBytes: 16 * 1024 ** 2, onlyStdout: true };
/** The limits of a removal. What crictl prints then explains why it removed nothing. */
const REMOVAL = { timeoutMs: 60_000, maxOutputBytes: 4096 };
/** Matches an id as the runtime prints it: nothing else is passed back to it. */
const ID = /^(?:sha256:)?[0-9a-f]{12,64}$/;

export function createContainerRuntime(
  processes: Pick<HostProcesses, 'run'>,
  program: string,
): ContainerRuntime {
  async function crictl(limits: RunLimits, ...args: readonly string[]): Promise<string> {
    const result = await processes.run([program, ...args], limits);
    if (result.exitCode === 0 && !result.truncated) return result.output;
    const why = failureText(result, limits);
    throw new HostError('NotSupported', `${program} ${args[0]} failed: ${why}`, { where: program });
  }

  async function listOf(field: string, ...args: readonly string[]): Promise<readonly unknown[]> {
    const output = await crictl(LIST, ...args, '--output', 'json');
    const list = parseList(output, field);
    if (list) return list;
    throw new HostError('NotSupported', `${program} ${args[0]} printed no list of ${field}`, {
      where: program,
    });
  }

  return {
    async deadContainers(minAgeSeconds, now) {
      const all = await listOf('containers', 'ps', '--all');
      return all.flatMap((each) => deadContainer(each, now.getTime() - minAgeSeconds * 1000));
    },
    async unusedImages(keep) {
      const used = new Set((await listOf('containers', 'ps', '--all')).flatMap(imagesOfContainer));
      const isKept = keepMatcher(keep);
      return (await listOf('images', 'images')).flatMap((each) => unusedImage(each, used, isKept));
    },
    removeContainer: async (id) => void (await crictl(REMOVAL, 'rm', id)),
    removeImage: async (id) => void (await crictl(REMOVAL, 'rmi', id)),
  };
}

function failureText(
  { timedOut, truncated, exitCode, output }: RunResult,
  { onlyStdout }: RunLimits,
): string {
  if (timedOut) return 'it did not end in time';
  if (truncated) return 'it printed too much';
  const lastLine = onlyStdout ? '' : output.trim().split('\n').at(-1);
  return lastLine ? `exit code ${exitCode}: ${lastLine}` : `exit code ${exitCode}`;
}

function deadContainer(container: unknown, before: number): readonly UnusedItem[] {
  const [id = '', state] = [textAt(container, 'id'), textAt(container, 'state')];
  const name = textAt(container, 'metadata', 'name') ?? id;
  // Nanoseconds since 1970.
  const createdMs = Number(textAt(container, 'createdAt')) / 1e6;
  const isDead = state === 'CONTAINER_EXITED' && ID.test(id) && createdMs <= before;
  return isDead ? [{ id, name, sizeBytes: 0 }] : [];
}

function imagesOfContainer(container: unknown): readonly string[] {
  const names = [
    textAt(container, 'imageRef'),
    textAt(container, 'imageId'),
    textAt(container, 'image', 'image'),
    textAt(container, 'image', 'userSpecifiedImage'),
  ];
  return names.filter((name) => name !== undefined);
}

function unusedImage(
  image: unknown,
  used: ReadonlySet<string>,
  isKept: (name: string) => boolean,
): readonly UnusedItem[] {
  const id = textAt(image, 'id') ?? '';
  const names = [...listAt(image, 'repoTags'), ...listAt(image, 'repoDigests')].filter(
    (name) => typeof name === 'string',
  );
  const isPinned = isRecord(image) && image['pinned'] === true;
  if (!ID.test(id) || isPinned || [id, ...names].some((name) => used.has(name) || isKept(name))) return [];
  return [{ id, name: names[0] ?? id, sizeBytes: Number(textAt(image, 'size') ?? 0) }];
}

function parseList(text: string, field: string): readonly unknown[] | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return isRecord(answer) && Array.isArray(answer[field]) ? listAt(answer, field) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a check whether a name is kept. `@pinned` needs no pattern: what the runtime pins is never deleted. */
function keepMatcher(patterns: readonly string[]): (name: string) => boolean {
  const names = patterns.filter((pattern) => pattern !== '@pinned');
  return (name) => names.some((pattern) => matchesPattern(name, pattern));
}

/** Tells whether a name matches. `*` stands for any text. It works without regular expressions, which take long for many stars. */
function matchesPattern(name: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    at = name.indexOf(part, at);
    if (at === -1) return false;
    at += part.length;
  }
  return at <= name.length - last.length;
}
