/** The stream of the server: the whole state, then what changes. The browser connects again by itself. */
import type { ConsolePatch } from '../../state/patch.ts';
import type { ConsoleState } from '../../state/state.ts';

export interface StreamHandlers {
  /** At the start of each connection. */
  readonly onState: (state: ConsoleState) => void;
  readonly onChange: (change: ConsolePatch) => void;
  readonly onConnection: (isConnected: boolean) => void;
}

/** The server sends a heartbeat every 15 s: after three of them the connection is lost, whatever the browser thinks. */
const SILENT_MS = 45_000;

export function followState({ onState, onChange, onConnection }: StreamHandlers): void {
  const events = new EventSource('/events');
  let silent = setTimeout(reconnect, SILENT_MS);
  const heard = (): void => {
    clearTimeout(silent);
    silent = setTimeout(reconnect, SILENT_MS);
    onConnection(true);
  };
  events.addEventListener('state', ({ data }: MessageEvent<string>) => {
    heard();
    onState(JSON.parse(data) as ConsoleState);
  });
  events.addEventListener('patch', ({ data }: MessageEvent<string>) => {
    heard();
    onChange(JSON.parse(data) as ConsolePatch);
  });
  events.addEventListener('heartbeat', heard);
  events.addEventListener('error', () => {
    onConnection(false);
    // After an answer that is not a stream, such as "too many pages", the browser gives up.
    if (events.readyState === EventSource.CLOSED) restartSoon();
  });

  function reconnect(): void {
    onConnection(false);
    restartSoon();
  }

  function restartSoon(): void {
    clearTimeout(silent);
    events.close();
    setTimeout(() => followState({ onState, onChange, onConnection }), 5000);
  }
}
