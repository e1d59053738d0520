/** The only mapping from raw observations to observations, by the allow-list of kube.ts. Pure, total, idempotent. */
import { narrowers, narrowPod } from './kube.ts';
import type { LogLine, Observation, RawObservation } from './observation.ts';
import { asObject, asString, compact } from './observe/read.ts';

/** `seq` is what evidence refers to; `logText` keeps the text of log lines. `together`: by default as recorded. */
export function observe(
  rawObservation: RawObservation,
  seq: number,
  { logText, together = rawObservation.together }: { logText: boolean; together?: boolean | undefined },
): Observation {
  const place = together ? { seq, together } : { seq };
  switch (rawObservation.kind) {
    case 'listed':
      return {
        ...rawObservation,
        ...place,
        objects: rawObservation.objects.map((one) => narrowers[rawObservation.stream](one)),
      };
    case 'changed':
      return { ...rawObservation, ...place, object: narrowers[rawObservation.stream](rawObservation.object) };
    case 'answered':
    case 'looked': {
      const { object } = rawObservation;
      return { ...rawObservation, ...place, object: isPod(object) ? narrowPod(object) : undefined };
    }
    case 'line':
      return { ...place, at: rawObservation.at, ...lineOf(rawObservation, logText) };
    default:
      return { ...rawObservation, ...place };
  }
}

function isPod(raw: unknown): boolean {
  const object = asObject(raw);
  return object['kind'] === 'Pod' || asString(asObject(object['metadata'])['uid']) !== undefined;
}

function lineOf(rawObservation: Extract<RawObservation, { kind: 'line' }>, logText: boolean): LogLine {
  return compact<LogLine>({
    kind: 'line',
    pod: rawObservation.pod,
    container: rawObservation.container,
    time: rawObservation.time,
    namesSignal: rawObservation.namesSignal ?? namesStopSignal(rawObservation.text ?? ''),
    namesOther: (rawObservation.namesOther ?? namesOtherSignal(rawObservation.text ?? '')) || undefined,
    namesStop: (rawObservation.namesStop ?? stopWords.test(rawObservation.text?.slice(0, 512) ?? '')) || undefined,
    text: logText ? rawObservation.text : undefined,
    skipped: rawObservation.skipped,
  });
}

/** Whether a log line says that a stop signal was received: an upper bound for the signal. */
export function namesStopSignal(text: string): boolean {
  const line = text.slice(0, 512);
  return (signalName.test(line) && !aboutTerminal.test(line)) || signalWords.test(line);
}

/** It names stop signals, and SIGTERM is none of them. */
const namesOtherSignal = (text: string): boolean =>
  /\bSIG(INT|QUIT|HUP|USR1|USR2|WINCH)\b/.test(text.slice(0, 512)) && !/\b(SIG)?TERM\b/.test(text.slice(0, 512));

/** SIGTERM, `signal: terminated`, or the word TERM; not SIGKILL, which no process can log. */
const signalName = /\bSIG(TERM|INT|QUIT|HUP|USR1|USR2|WINCH)\b|\bsignal[ :=]+(15|2|3|terminated|interrupt)\b|\bTERM\b/;
const signalWords =
  /\b(received|got|caught|trapped|handling)\b.{0,24}\b(termination|shutdown|stop|interrupt|exit)? ?signal\b/i;
/** As applications say it without naming the signal: `Commencing graceful shutdown`, `Gracefully stopping`. */
const stopWords = /shut(ting)?[ -]?down|\b(graceful(ly)?|stopping|terminating|draining|exiting)\b/i;
/** `TERM environment variable not set`, `$TERM`, `TERM=xterm`: the terminal type, not the signal. */
const aboutTerminal = /\$\{?TERM\b|\bTERM(=| environment)/;
