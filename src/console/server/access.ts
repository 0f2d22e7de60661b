/** Decides what a request may see. Without a login, all that reach the address see the same. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress } from '../../os/net/connection-limits.ts';
import { refuseRequest } from './guard.ts';
import { isDataPath } from './paths.ts';
import { sendText } from './replies.ts';
import { createEventStreams, type ReadOnDemand, type StreamsOptions } from './streams.ts';

/** Describes the session of a page to the page. */
export interface SessionView {
  readonly user: string;
  readonly groups: readonly string[];
  readonly endsAt: string;
}

/** Holds the rights of an admitted request, beside reading the files of the page. */
export interface Admitted {
  /** Undefined: the console has no login. */
  readonly session?: SessionView;
  /** Adds a page to the stream of changes. Returns why it was not added. */
  addStream(response: ServerResponse): Promise<string | undefined>;
  /** Reads on demand for the request. Absent: it may read nothing, because the session has no open page. */
  readonly source?: ReadOnDemand | undefined;
}

export interface ConsoleAccess {
  /** Resolves to undefined when it has answered the request itself. */
  admit(request: IncomingMessage, response: ServerResponse): Promise<Admitted | undefined>;
  /** Resolves after the signal, when every stream was ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface OpenAccessOptions extends StreamsOptions {
  /** The name that the console was started with. */
  readonly host: string;
}

/** The default reason for a page that is not added. */
export const TOO_MANY_PAGES = 'too many pages are open: close one';

/** Creates the access without a login, for a console on the machine of a person. */
export function createOpenAccess({ host, ...options }: OpenAccessOptions): ConsoleAccess {
  const streams = createEventStreams(options);
  return {
    admit({ method, url = '', headers, socket }, response) {
      const head = { method, host: headers.host, fetchSite: headers['sec-fetch-site']?.toString() };
      const refused = refuseRequest({ ...head, isForData: isDataPath(url) }, host);
      if (refused) {
        sendText(response, refused.status, refused.because);
        return Promise.resolve(undefined);
      }
      const address = clientAddress(socket.remoteAddress);
      return Promise.resolve({
        addStream: (stream) => Promise.resolve(streams.add(stream, address) ? undefined : TOO_MANY_PAGES),
        source: options.source,
      });
    },
    run: (signal) => streams.run(signal),
  };
}
