/** What a log line may hold besides its constant message. Errors go under `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log. Messages are constant strings; what varies is in the fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines all carry these fields. */
  with(fields: LogFields): Log;
}
