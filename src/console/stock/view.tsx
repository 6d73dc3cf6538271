export default function StockView() {
  return (
    <div>
      <h1 class="view-title">Stock</h1>
    </div>
  );
}
