// A thread that answers every text with the first one that it was sent.
declare const self: Worker;

export {};

let answer: string | undefined;

self.onmessage = ({ data }: MessageEvent<string>) => {
  answer ??= data;
  self.postMessage(answer);
};
