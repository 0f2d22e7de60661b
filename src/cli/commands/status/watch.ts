/** `kubenode status --watch`: the live view of a hub, until Ctrl-C. */
import type { Pipeline } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { hubChanges } from '../../../views/status/changes.ts';
import { hubFrame } from '../../../views/status/frame.ts';
import type { HubStatus } from '../../../views/status/hub-status.ts';
import { withoutTimes } from '../../../views/text/age.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createDisplay, type Presentation } from '../../live/display.ts';
import { followLive } from '../../live/follow.ts';
import { createHubFeed } from '../../live/hub-feed.ts';
import type { OutputFormat } from '../../output.ts';
import { hintsOf, type MakeRunnable } from '../../runnable.ts';

export interface HubWatch {
  readonly client: Client;
  readonly output: OutputFormat;
  /** Its error ends the command with a hint; the watches would try again for ever. */
  readonly readFirst: () => Promise<HubStatus>;
  readonly findUnsynced: (pipelines: readonly Pipeline[]) => Promise<readonly string[]>;
}

/** Returns when it is interrupted, which is how a person ends it: exit code 0. */
export async function watchHub(io: Io, { output, readFirst, ...options }: HubWatch): Promise<void> {
  try {
    const { unsynced } = await readFirst();
    const feed = createHubFeed({ ...options, clock: io.clock, unsynced });
    await followLive(io, feed, createDisplay(io, output, presentHub(hintsOf(io))), () => undefined);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    setExitCode(io, EXIT.ok);
  }
}

function presentHub(makeRunnable: MakeRunnable): Presentation<HubStatus> {
  return {
    label: () => 'hub',
    changes: (before, after, now) => hubChanges(before, after, now).map(makeRunnable),
    frame: (status, now, { columns }) => hubFrame(status, { now, columns, makeRunnable }),
    compared: (status) => withoutTimes(JSON.stringify(status)),
  };
}
